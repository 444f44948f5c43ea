import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { graderView } from '../../../src/case.js'
import { ok } from '../../../src/reward.js'
import { episodeWriter } from '../../../src/storage/episode-files.js'
import { ask, diagnose, episodeOf } from '../../fixtures/reward-episodes.js'
import { tinyCase } from '../../fixtures/tiny-case.js'
import { bedside } from '../terminal.js'

let folder: string
let path: string
/** Of each group half diagnose rightly after some questions; the others guess wrongly at once, and are paid for brevity. */
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'bedside-signal-'))
  path = join(folder, 'groups.jsonl')
  const writer = episodeWriter(path)
  for (let group = 0; group < 20; group++)
    for (let member = 0; member < 4; member++) {
      const right = member % 2 === 0
      const turns = right ? [ask(), ask(), diagnose('flu')] : [diagnose('gout')]
      const brevity = 1 - turns.length / 10
      const score = {
        total: brevity,
        parts: { diagnosis: ok(right ? 1 : 0), brevity: ok(brevity) },
      }
      const episode = episodeOf(turns, { id: `${group}/${member}`, caseId: `case-${group}` })
      const truth = graderView(tinyCase(`case-${group}`))
      await writer.write({ episode, truth, score, group: `g${group}`, step: 1 })
    }
  await writer.close()
})
afterAll(() => rm(folder, { recursive: true }))

describe('rewards signal', () => {
  test('tells how each part goes with accuracy, scored again, and warns of what goes against it', async () => {
    const { code, stdout, stderr } = await bedside(['rewards', 'signal', path, '--json'])
    expect(code).toBe(0)
    const link = (r: number) => ({
      ...{ within: expect.closeTo(r, 9), compared: 80 },
      ...{ across: expect.closeTo(r, 9), members: 80 },
    })
    expect(JSON.parse(stdout)).toEqual({
      groups: 20,
      zeroVariance: 0,
      nearZeroVariance: 0,
      nearZeroBelow: 0.01,
      dropped: 0,
      shares: expect.any(Object),
      magnitude: expect.any(Number),
      amplification: expect.any(Number),
      accuracy: { diagnosis: link(1), brevity: link(-1), '(total)': link(-1) },
      warnings: [
        expect.stringContaining('The reward goes against being right'),
        expect.stringContaining('`brevity` goes against being right'),
      ],
    })
    expect(stderr).toContain('! `brevity` goes against being right')
  })

  test('the table says the share and both correlations of each part', async () => {
    const { stdout } = await bedside(['rewards', 'signal', path, '--advantages', 'grpo'])
    expect(stdout).toContain(
      '20 groups: 0 without variance, 0 with hardly any (deviation below 0.01)',
    )
    expect(stdout).toMatch(/^part +of the signal +with accuracy: in groups +over all$/m)
    expect(stdout).toMatch(/^brevity +– +-1\.00 +-1\.00$/m)
  })

  test('a reward that nobody has is bad input', async () => {
    const { code, stderr } = await bedside(['rewards', 'signal', path, '--reward', 'defualt'])
    expect([code, stderr]).toEqual([2, expect.stringContaining('did you mean `default`?')])
  })
})
