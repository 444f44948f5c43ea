/** `bedside evaluate`: an agent over many cases, between the random doctor and the strongest oracle. */
import { setMaxListeners } from 'node:events'
import { basename } from 'node:path'
import type { AnyAgent } from '../../agent.js'
import type { Case } from '../../case.js'
import { Fault } from '../../error.js'
import type { PlayedCase } from '../../evaluation/play-cases.js'
import { playCases } from '../../evaluation/play-cases.js'
import type { Evaluation, Reference, RoleUsage } from '../../evaluation/report.js'
import { evaluationOf, referencesOf } from '../../evaluation/report.js'
import type { WorldFlags } from '../flags/flags.js'
import { evaluationText } from '../print/evaluation-text.js'
import type { Terminal } from '../print/output.js'
import { commandLine, number, output } from '../print/output.js'
import { progress } from '../print/progress.js'
import type { Archive } from './evaluation-archive.js'
import { openArchive, planIn, planModules } from './evaluation-archive.js'
import { stopped } from './failure.js'
import { runFolder } from './run-folder.js'
import type { DoctorFlags, PlayPlan, Stage } from './world.js'
import { casesOf, openStage, planOf } from './world.js'

export interface EvaluateFlags extends WorldFlags, DoctorFlags {
  readonly concurrency?: number
  readonly out?: string
  readonly resume?: string
}

/** What a resumed evaluation reads from its folder. */
const fixed = [
  'agent',
  'patient',
  'exams',
  'model',
  'reward',
  'seed',
  'lang',
  'tier',
  'split',
  'cases',
  'clinic',
  'maxTurns',
  'questionsOnly',
  'out',
] as const satisfies readonly (keyof EvaluateFlags)[]

const kebab = (name: string): string => name.replace(/[A-Z]/g, (c) => `-${c.toLowerCase()}`)

function planFrom(flags: EvaluateFlags): Promise<PlayPlan> {
  const { resume, agent } = flags
  if (resume !== undefined) {
    const given = fixed.find((name) => flags[name] !== undefined)
    if (given)
      throw new Fault(
        'bad-input',
        `--${kebab(given)}: expected none beside --resume, which goes on with the evaluation as it was begun`,
      )
    return planIn(resume, flags.trust ?? false)
  }
  if (agent === undefined)
    throw new Fault(
      'bad-input',
      '--agent: expected the agent to evaluate (oracle, random, chat, or the folder of a run, among others), got none',
    )
  return planOf({ ...flags, agent })
}

/** Faults one after another, from the first case on, after which the world counts as down. */
const patience = 5

/** Gives up when the world is down: none of the first cases could be played, or none for a long while. */
function watchman(count: number, concurrency: number) {
  const down = new AbortController()
  let episodes = 0
  let row = 0
  return {
    signal: down.signal,
    see({ fault }: PlayedCase): void {
      if (!fault) {
        episodes++
        row = 0
        return
      }
      row++
      const limit = episodes === 0 ? Math.min(patience, count) : patience + 4 * concurrency
      if (row >= limit && !down.signal.aborted)
        down.abort(
          new Fault(
            fault.code,
            `${row} consultations in a row could not be played: ${fault.message}`,
          ),
        )
    },
  }
}

/** The accuracy so far, of the consultations that have one. */
function runningAccuracy(): (played: PlayedCase) => string {
  let right = 0
  let judged = 0
  return ({ scores }) => {
    const total = scores?.accuracy.total ?? null
    if (total !== null) judged++
    right += total ?? 0
    return `accuracy ${number(judged > 0 ? right / judged : null, 2)}`
  }
}

/** One sitting of an evaluation. */
interface Sitting {
  readonly plan: PlayPlan
  readonly stage: Stage
  readonly doctor: AnyAgent
  readonly cases: readonly Case[]
  readonly archive: Archive | undefined
  readonly flags: EvaluateFlags
  /** What was played in it, in the order of completion. */
  readonly played: PlayedCase[]
}

/** Plays what is not done yet and gives what chat models used in all sittings. */
async function playRest(
  { plan, stage, doctor, cases, archive, flags, played }: Sitting,
  terminal: Terminal,
): Promise<Readonly<Record<string, RoleUsage>>> {
  const { task } = stage
  const rest = cases.filter(({ id }) => !archive?.done.has(id))
  const from = cases.length - rest.length
  const concurrency = flags.concurrency ?? 8
  const guard = watchman(rest.length, concurrency)
  const signal = AbortSignal.any([terminal.signal, guard.signal])
  // Every model call under way listens.
  setMaxListeners(0, signal)
  const bar = await progress(terminal, { ...flags, label: plan.agent, total: cases.length, from })
  const accuracy = runningAccuracy()
  try {
    await playCases({
      cases: rest,
      makeEnv: task.makeEnv,
      agent: doctor,
      agentName: plan.agent,
      measures: task.measures,
      seed: plan.recipe.seed,
      concurrency,
      signal,
      onPlayed: (one) => {
        played.push(one)
        archive?.keep(one)
        guard.see(one)
        bar.at(from + played.length, accuracy(one))
      },
    })
    guard.signal.throwIfAborted()
  } catch (error) {
    await archive?.close(stage.usage())
    throw guard.signal.aborted && !terminal.signal.aborted ? guard.signal.reason : error
  } finally {
    bar.stop()
  }
  return archive ? archive.close(stage.usage()) : stage.usage()
}

/** Plays the floor, the ceiling and the bound over the same cases. */
async function playReferences(
  { plan, stage, cases, flags }: Sitting,
  terminal: Terminal,
): Promise<Reference> {
  const label = 'floor and ceiling'
  const total = (stage.task.yardstick ? 3 : 2) * cases.length
  const bar = await progress(terminal, { ...flags, label, total })
  let played = 0
  try {
    return await referencesOf(stage.task, {
      seed: plan.recipe.seed,
      cases,
      concurrency: flags.concurrency ?? 8,
      signal: terminal.signal,
      onPlayed: () => bar.at(++played),
    })
  } finally {
    bar.stop()
  }
}

/** Plays the rest, then the floor and the ceiling, and sums up in the order of the cases. */
async function evaluationIn(sitting: Sitting, terminal: Terminal): Promise<Evaluation> {
  const { plan, stage, cases, archive, played } = sitting
  const { task } = stage
  const { seed } = plan.recipe
  const usage = await playRest(sitting, terminal)
  const now = new Map(played.map((one) => [one.truth.id, one] as const))
  const inOrder = cases.flatMap(({ id }) => archive?.done.get(id) ?? now.get(id) ?? [])
  const references = await playReferences(sitting, terminal)
  return evaluationOf(inOrder, {
    agent: plan.agent,
    tier: task.tier,
    lang: task.language,
    split: plan.split,
    seed,
    references,
    usage,
    rewardBounds: task.measures.reward.bounds,
  })
}

/** The command that goes on with an evaluation. */
const resumeCommand = (plan: PlayPlan, folder: string): string =>
  commandLine('evaluate', '--resume', folder, ...(planModules(plan).length > 0 ? ['--trust'] : []))

/** Puts what a stopped sitting has played where `--resume` finds it. */
async function keepAll({ archive, plan, stage, cases, played }: Sitting): Promise<string> {
  if (archive) return archive.folder
  const folder = runFolder(`evaluate-${basename(plan.agent)}`)
  const { measures } = stage.task
  const made = await openArchive(folder, plan, { cases, measures })
  for (const one of played) made.keep(one)
  await made.close(stage.usage())
  return folder
}

async function archiveFor(
  { out, resume }: EvaluateFlags,
  { plan, stage, cases }: Pick<Sitting, 'plan' | 'stage' | 'cases'>,
): Promise<Archive | undefined> {
  // What a model was paid for is kept from the first episode on.
  const paid = plan.agent === 'chat' || plan.patient === 'chat'
  const folder = resume ?? out ?? (paid ? runFolder(`evaluate-${basename(plan.agent)}`) : undefined)
  if (folder === undefined) return undefined
  return openArchive(folder, plan, { cases, measures: stage.task.measures })
}

/** Plays, sums up and prints; with a folder, every episode is kept as it ends. */
export async function evaluate(flags: EvaluateFlags, terminal: Terminal): Promise<number> {
  const started = performance.now()
  const out = output(terminal, flags)
  const plan = await planFrom(flags)
  const { baseUrl } = flags
  await using stage = await openStage(baseUrl === undefined ? plan : { ...plan, baseUrl })
  const cases = casesOf(plan, stage.task)
  const { file } = plan.recipe.cases
  if (file !== undefined) await out.note(`${cases.length} cases of ${file} (--split ${plan.split})`)
  const doctor = await stage.openDoctor()
  const archive = await archiveFor(flags, { plan, stage, cases })
  const sitting: Sitting = { plan, stage, doctor, cases, archive, flags, played: [] }
  try {
    const evaluation = await evaluationIn(sitting, terminal)
    const report = { ...evaluation, timing: { seconds: (performance.now() - started) / 1000 } }
    await archive?.writeReport(report)
    await out.say(evaluationText(evaluation, stage.task.ceiling.name))
    if (archive) await out.note(`kept in ${archive.folder}`)
    if (flags.json) await out.document(report)
    return 0
  } catch (error) {
    const done = (archive?.done.size ?? 0) + sitting.played.filter(({ episode }) => episode).length
    const kept = `${done} of ${cases.length} consultations are kept.`
    if (terminal.signal.aborted) {
      if (done === 0) return stopped(terminal, 'Nothing was played.')
      const folder = await keepAll(sitting)
      return stopped(terminal, `${kept} Go on with:`, resumeCommand(plan, folder))
    }
    if (archive && done > 0 && Fault.is(error))
      await out.note(`${kept} Go on with:\n  ${resumeCommand(plan, archive.folder)}`)
    throw error
  }
}
