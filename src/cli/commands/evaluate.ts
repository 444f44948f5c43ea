/** `bedside evaluate`: an agent over many cases, between the random doctor and the strongest oracle. */
import { setMaxListeners } from 'node:events'
import { basename } from 'node:path'
import type { AnyAgent } from '../../agent.js'
import type { Case } from '../../case.js'
import type { UsageByRole } from '../../chats/account.js'
import { usageLine } from '../../chats/ledger.js'
import { Fault } from '../../error.js'
import { assertAnyScored } from '../../evaluation/any-scored.js'
import {
  buildEvaluation,
  type Evaluation,
  evaluateReferences,
  type References,
} from '../../evaluation/evaluate.js'
import { createFaultGuard } from '../../evaluation/fault-guard.js'
import { type PlayedCase, playCases } from '../../evaluation/play-cases.js'
import { withoutUndefined } from '../../platform/without-undefined.js'
import type { CaseFlags } from '../flags/flags.js'
import { evaluationText } from '../print/evaluation-text.js'
import { reportStop } from '../print/failure.js'
import { commandLine, numberText, output, type Terminal } from '../print/output.js'
import { startProgress } from '../print/progress.js'
import {
  consultationKey,
  type EvaluationArchive,
  openArchive,
  planModules,
  readPlan,
} from './evaluation-archive.js'
import { isPaid, layModels } from './play-models.js'
import type { DoctorFlags, PlayPlan, PlaySession } from './play-plan.js'
import { createPlan, openPlaySession, planCases } from './play-plan.js'
import { runFolder } from './run-folder.js'

interface EvaluateFlags extends CaseFlags, DoctorFlags {
  readonly concurrency?: number
  readonly out?: string
  readonly resume?: string
}

/** Flags that a resumed evaluation reads from its folder, and so must not be given again. */
const storedFlags: readonly (keyof EvaluateFlags)[] = [
  ...(['agent', 'patient', 'exams', 'model', 'reward', 'seed', 'lang', 'tier', 'split'] as const),
  ...(['cases', 'clinic', 'maxTurns', 'questionsOnly', 'repeats', 'temperature', 'out'] as const),
]

const kebab = (name: string): string => name.replace(/[A-Z]/g, (c) => `-${c.toLowerCase()}`)

function readOrCreatePlan(flags: EvaluateFlags): Promise<PlayPlan> {
  const { resume, agent } = flags
  if (resume !== undefined) {
    const given = storedFlags.find((name) => flags[name] !== undefined)
    if (given)
      throw new Fault(
        'bad-input',
        `--${kebab(given)}: expected none beside --resume, which goes on with the evaluation as it was begun`,
      )
    return readPlan(resume, flags.trust ?? false)
  }
  if (agent === undefined)
    throw new Fault(
      'bad-input',
      '--agent: expected the agent to evaluate (oracle, random, chat, or the folder of a run, among others), got none',
    )
  return createPlan({ ...flags, agent })
}

/** Creates the progress note: mean accuracy so far, over consultations that have one, and what the models used. */
function runningNote(usage: () => UsageByRole): (played: PlayedCase) => string {
  let right = 0
  let judged = 0
  return ({ scores }) => {
    const total = scores?.accuracy.total ?? null
    if (total !== null) judged++
    right += total ?? 0
    const accuracy = `accuracy ${numberText(judged > 0 ? right / judged : null, 2)}`
    return [accuracy, usageLine(usage())].filter(Boolean).join(' · ')
  }
}

/** One session of an evaluation, new or resumed. */
interface EvaluationSession {
  readonly plan: PlayPlan
  readonly stage: PlaySession
  readonly doctor: AnyAgent
  readonly cases: readonly Case[]
  readonly archive: EvaluationArchive | undefined
  readonly flags: EvaluateFlags
  /** Cases played in this session, in the order of completion. */
  readonly played: PlayedCase[]
}

/** Plays the remaining cases. */
async function playRest(
  { plan, stage, doctor, cases, archive, flags, played }: EvaluationSession,
  terminal: Terminal,
): Promise<void> {
  const { task } = stage
  const { repeats = 1 } = plan
  const isDone = ({ id }: Case, repeat: number) =>
    archive?.done.has(consultationKey(id, repeat)) ?? false
  const total = repeats * cases.length
  const from = archive?.done.size ?? 0
  const concurrency = flags.concurrency ?? 8
  const guard = createFaultGuard(total - from, concurrency)
  const signal = AbortSignal.any([terminal.signal, guard.signal])
  // Every model call in progress adds a listener.
  setMaxListeners(0, signal)
  const bar = await startProgress(terminal, {
    ...flags,
    label: plan.agent,
    total,
    from,
  })
  const note = runningNote(stage.usage)
  try {
    await playCases({
      ...{ cases, repeats, isDone, makeEnv: task.makeEnv, measures: task.measures },
      ...{ agent: doctor, agentName: plan.agent, seed: plan.recipe.seed, concurrency, signal },
      onPlayed: (one) => {
        played.push(one)
        archive?.keep(one)
        guard.see(one)
        bar.update(from + played.length, note(one))
      },
    })
    guard.signal.throwIfAborted()
  } catch (error) {
    throw guard.signal.aborted && !terminal.signal.aborted ? guard.signal.reason : error
  } finally {
    bar.stop()
  }
}

/** Plays floor, ceiling and full-information bound over the same cases. */
async function playReferences(
  { plan, stage, cases, flags }: EvaluationSession,
  terminal: Terminal,
): Promise<References> {
  const label = 'floor and ceiling'
  const total = (stage.task.yardstick ? 3 : 2) * cases.length
  const bar = await startProgress(terminal, { ...flags, label, total })
  let played = 0
  try {
    return await evaluateReferences(stage.task, {
      seed: plan.recipe.seed,
      cases,
      concurrency: flags.concurrency ?? 8,
      signal: terminal.signal,
      onPlayed: () => bar.update(++played),
    })
  } finally {
    bar.stop()
  }
}

/** Plays the remaining cases, then the references, and summarises in the order of the cases. */
async function evaluateSession(
  session: EvaluationSession,
  terminal: Terminal,
): Promise<Evaluation> {
  const { plan, stage, cases, archive, played } = session
  const { task } = stage
  const { seed } = plan.recipe
  const { repeats = 1 } = plan
  let usage: UsageByRole = {}
  let done: { readonly inOrder: readonly PlayedCase[]; readonly references: References }
  try {
    await playRest(session, terminal)
    const now = new Map(
      played.map((one) => [consultationKey(one.truth.id, one.repeat), one] as const),
    )
    const inOrder = cases.flatMap(({ id }) =>
      Array.from({ length: repeats }, (_, repeat) => {
        const key = consultationKey(id, repeat)
        return archive?.done.get(key) ?? now.get(key) ?? []
      }).flat(),
    )
    assertAnyScored(inOrder)
    done = { inOrder, references: await playReferences(session, terminal) }
  } finally {
    // A model that plays the patient plays it for floor and ceiling too.
    usage = archive ? await archive.close(stage.usage()) : stage.usage()
  }
  const apart =
    archive && archive.done.size > 0 && usage.patient && !plan.recipe.models?.cassette
      ? [
          'the repeats were played in several sittings without a cassette, so that the patient may have answered one question in two ways',
        ]
      : []
  return buildEvaluation(done.inOrder, {
    notes: [...stage.notes(), ...apart],
    ...{ agent: plan.agent, tier: task.tier, lang: task.language, split: plan.split },
    ...{ seed, repeats, references: done.references, usage },
    rewardBounds: task.measures.reward.bounds,
  })
}

/** Command line that resumes an evaluation. */
const resumeCommand = (plan: PlayPlan, folder: string): string =>
  commandLine('evaluate', '--resume', folder, ...(planModules(plan).length > 0 ? ['--trust'] : []))

/** Where the consultations are, and how those that the world failed are played again. */
function keptText({ cases, episodes }: Evaluation, plan: PlayPlan, folder: string): string {
  const all = cases * (plan.repeats ?? 1)
  if (episodes === all) return `kept in ${folder}`
  const lost = `${all - episodes} of ${all} consultations were lost to faults of the world`
  return `kept in ${folder}; ${lost}. Play them again with:\n  ${resumeCommand(plan, folder)}`
}

/** Archives the episodes of a stopped session for `--resume`; returns the folder. */
async function archivePlayed(session: EvaluationSession): Promise<string> {
  const { archive, plan, stage, cases, played } = session
  if (archive) return archive.folder
  const folder = runFolder(`evaluate-${basename(plan.agent)}`)
  const made = await openArchive(folder, plan, { cases, measures: stage.task.measures })
  for (const one of played) made.keep(one)
  await made.close(stage.usage())
  return folder
}

async function openSessionArchive(
  { out, resume }: EvaluateFlags,
  { plan, stage, cases }: Pick<EvaluationSession, 'plan' | 'stage' | 'cases'>,
): Promise<EvaluationArchive | undefined> {
  // With a paid chat model, episodes are kept from the first on.
  const folder =
    resume ?? out ?? (isPaid(plan) ? runFolder(`evaluate-${basename(plan.agent)}`) : undefined)
  if (folder === undefined) return undefined
  return openArchive(folder, plan, { cases, measures: stage.task.measures })
}

/** Runs `bedside evaluate`; with a folder, each episode is saved as it ends. @returns the exit code */
export async function evaluate(flags: EvaluateFlags, terminal: Terminal): Promise<number> {
  const started = performance.now()
  const out = output(terminal, flags)
  const plan = await readOrCreatePlan(flags)
  const { baseUrl, concurrency } = flags
  const laid = flags.resume === undefined ? plan.recipe : layModels(plan.recipe, flags.set)
  const played = { ...plan, recipe: laid, ...withoutUndefined({ baseUrl }) }
  await using stage = await openPlaySession(played, { concurrency })
  const cases = planCases(plan, stage.task)
  const { file } = plan.recipe.cases
  const hint = plan.split === 'all' ? '' : '; --split all plays every case of the file'
  if (file !== undefined)
    await out.note(`${cases.length} cases of ${file} (--split ${plan.split}${hint})`)
  const doctor = await stage.openDoctor()
  const archive = await openSessionArchive(flags, { plan, stage, cases })
  if (archive?.takenOver !== undefined) await out.note(archive.takenOver)
  const session: EvaluationSession = { plan, stage, doctor, cases, archive, flags, played: [] }
  try {
    const evaluation = await evaluateSession(session, terminal)
    const report = { ...evaluation, timing: { seconds: (performance.now() - started) / 1000 } }
    await archive?.writeReport(report)
    await out.say(evaluationText(evaluation, stage.task.ceiling.name))
    if (archive) await out.note(keptText(evaluation, plan, archive.folder))
    if (flags.json) await out.document(report)
    // A report about the lesser part of the cases must not pass for one about all.
    return evaluation.episodes * 2 < evaluation.cases * (plan.repeats ?? 1) ? 1 : 0
  } catch (error) {
    const done = (archive?.done.size ?? 0) + session.played.filter(({ episode }) => episode).length
    const kept = `${done} of ${cases.length * (plan.repeats ?? 1)} consultations are kept.`
    if (terminal.signal.aborted) {
      if (done === 0) return reportStop(terminal, 'Nothing was played.')
      const folder = await archivePlayed(session)
      return reportStop(terminal, `${kept} Go on with:`, resumeCommand(plan, folder))
    }
    if (archive && done > 0 && Fault.is(error))
      await out.note(`${kept} Go on with:\n  ${resumeCommand(plan, archive.folder)}`)
    throw error
  }
}
