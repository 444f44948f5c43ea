/** Schema of a recipe's `prepare`: how `bedside train` makes the files that the recipe reads, where they are missing. */
import { basename, dirname } from 'node:path'
import { z } from 'zod'
import type { RecipeProblem } from './recipe-problems.js'
import { Count } from './recipe-training.js'

/** Schema of `prepare`. */
export const Prepare = z.strictObject({
  /** A program for Node.js that writes `cases.file`, whose path is its argument. */
  cases: z.string().exactOptional(),
  /**
   * Another recipe: its run, with the seed, language, clinic and model of this one, leaves the checkpoint `init`; in a
   * recipe without `init`, what it has trained becomes the folder `policy.model`.
   */
  run: z.string().exactOptional(),
  /** Sizes of a small model of random weights, as of `bedside sidecar tiny-model`, that becomes the folder `policy.model`. */
  tiny: z
    .strictObject({
      vocab: Count.exactOptional(),
      layers: Count.exactOptional(),
      width: Count.exactOptional(),
      hidden: Count.exactOptional(),
      heads: Count.exactOptional(),
      kvHeads: Count.exactOptional(),
      context: Count.exactOptional(),
      initRange: z.number().positive().exactOptional(),
      untied: z.boolean().exactOptional(),
      pieces: z.enum(['words', 'phrases']).exactOptional(),
    })
    .exactOptional(),
})
/** Checked `prepare` of a recipe. */
export type Prepare = z.infer<typeof Prepare>

/** Finds what `prepare` would make and nothing reads, or would make twice. */
export function prepareProblems({
  prepare,
  cases,
  policy,
  init,
}: {
  readonly prepare?: Prepare | undefined
  readonly cases: { readonly file?: string | undefined }
  readonly policy?: { readonly model?: string | undefined } | undefined
  readonly init?: string | undefined
}): readonly RecipeProblem[] {
  if (!prepare) return []
  const needless = (key: 'run' | 'tiny', expected: string) => ({ path: ['prepare', key], expected })
  const made = { run: '`init` or `policy.model`', tiny: '`policy.model`' } as const
  const makers = (['run', 'tiny'] as const).filter((key) => prepare[key] !== undefined)
  return [
    ...(prepare.cases !== undefined && cases.file === undefined
      ? [
          {
            path: ['prepare', 'cases'],
            expected: 'expected `cases.file` beside it, which it makes',
          },
        ]
      : []),
    ...makers
      .filter((key) => policy?.model === undefined && (key === 'tiny' || init === undefined))
      .map((key) => needless(key, `expected ${made[key]} beside it, which it makes`)),
    ...(prepare.run !== undefined && init !== undefined && basename(dirname(init)) !== 'checkpoints'
      ? [{ path: ['init'], expected: 'expected RUN/checkpoints/NAME, which `prepare.run` makes' }]
      : []),
    ...(makers.length > 1 ? [needless('tiny', 'expected `run` or `tiny`, one of them')] : []),
  ]
}
