/** `bedside consult`: one consultation, played by the user or by an agent. */
import { dirname, extname } from 'node:path'
import { type Agent, agentFor } from '../../agent.js'
import { humanDoctor } from '../../agents/human.js'
import { type Case, graderView } from '../../case.js'
import { parseCaseId } from '../../cases/generator/case-id.js'
import { humanChat } from '../../chats/human-chat.js'
import { usageLine } from '../../chats/ledger.js'
import { freePatient } from '../../envs/patients/free/free.js'
import { Fault } from '../../error.js'
import { loadKnowledge } from '../../knowledge/load.js'
import type { Patient } from '../../patient.js'
import type { LineStreams } from '../../platform/line-reader.js'
import { withoutUndefined } from '../../platform/without-undefined.js'
import { play } from '../../rollout.js'
import { evaluationSeeds, uniformInt } from '../../seed.js'
import { isStreamed } from '../../storage/atomic-write.js'
import { episodeWriter } from '../../storage/episode-files.js'
import type { Language } from '../../turn.js'
import type { CaseFlags } from '../flags/flags.js'
import { closingText, openingText, outcomeText, turnText } from '../print/consultation-text.js'
import { reportStop } from '../print/failure.js'
import { commandLine, type Output, output, type Terminal } from '../print/output.js'
import type { DoctorFlags, PlayPlan, PlaySession } from './play-plan.js'
import { createPlan, findCase, openPlaySession, planCases } from './play-plan.js'
import { isFolder } from './run-folder.js'

interface ConsultFlags extends CaseFlags, DoctorFlags {
  readonly case?: string
  readonly save?: string
}

const formats = ['.jsonl', '.parquet']

/** Checks `--save` before the consultation, so that no episode is lost to a bad file name. */
function checkSave(file: string | undefined): void {
  if (file === undefined) return
  if (!isFolder(dirname(file)))
    throw new Fault('bad-input', `--save: expected a file in a folder that exists, got \`${file}\``)
  if (!formats.includes(extname(file)) && !isStreamed(file))
    throw new Fault(
      'bad-input',
      `--save: expected a file name ending in ${formats.join(' or ')}, got \`${file}\``,
    )
}

/** Sets tier and clinic from a generated case's id. @throws Fault `bad-input` where `--tier` contradicts it */
function applyCaseId(flags: ConsultFlags): ConsultFlags {
  const named = flags.case === undefined || flags.cases?.file ? undefined : parseCaseId(flags.case)
  if (!named) return flags
  if (flags.tier !== undefined && flags.tier !== named.tier)
    throw new Fault(
      'bad-input',
      `--tier: expected ${named.tier}, as in --case ${flags.case}, got \`${flags.tier}\``,
    )
  return { ...flags, tier: named.tier, ...(named.clinic ? { clinic: [...named.clinic] } : {}) }
}

/** Creates the plan of one consultation; without `--cases` only one held-out case is generated. */
async function createConsultPlan(
  flags: ConsultFlags & { readonly agent: string },
): Promise<PlayPlan> {
  const plan = await createPlan(flags)
  const { recipe } = plan
  if (flags.cases !== undefined || recipe.cases.file !== undefined) return plan
  return { ...plan, recipe: { ...recipe, cases: { ...recipe.cases, heldOut: 1 } } }
}

/** The case of `--case`; without it, one chosen by the seed. */
async function chooseCase(
  id: string | undefined,
  plan: PlayPlan,
  { task }: PlaySession,
): Promise<Case> {
  const { file, clinic } = plan.recipe.cases
  if (id !== undefined) return findCase(id, { file, groups: clinic })
  const cases = planCases(plan, task)
  const n = file === undefined ? 0 : uniformInt(cases.length, plan.recipe.seed, 'case')
  return cases[n] as Case // below its length
}

/** Wraps an agent to print each turn when it is over, but for what the user has just typed as the patient. */
function printTurns(agent: Agent, { say, paint }: Output, isPatient: boolean): Agent {
  let shown = -1
  return async (observation, context) => {
    const { intake, turns, language } = observation
    if (shown < 0) await say(`${openingText(intake, language)}\n`)
    shown = Math.max(shown, 0)
    for (; shown < turns.length; shown++) {
      const turn = turns[shown]
      const typed = isPatient && turn?.outcome.kind === 'answered'
      if (turn && !typed) await say(turnText(turn, shown + 1, language, paint))
    }
    return agent(observation, context)
  }
}

/** Command line that repeats the consultation. */
const repeatCommand = (
  { recipe }: PlayPlan,
  truth: Case,
  { agent, patient, clinic }: ConsultFlags,
): string =>
  commandLine(
    ...['consult', '--case', truth.id, '--lang', recipe.language, '--seed', `${recipe.seed}`],
    ...(agent === undefined ? [] : ['--agent', agent]),
    ...(patient === undefined ? [] : ['--patient', patient]),
    ...(recipe.cases.file === undefined ? [] : ['--cases', recipe.cases.file]),
    ...(clinic === undefined ? [] : ['--clinic', clinic.join(',')]),
  )

/** A consultation about to start. */
interface ConsultSetup {
  readonly plan: PlayPlan
  readonly stage: PlaySession
  readonly truth: Case
  /** The user as the doctor; undefined where an agent plays. */
  readonly human: Agent | undefined
  /** Whether the user is the patient. */
  readonly isPatient: boolean
}

const patientWords = {
  en: { other: 'Doctor: ', prompt: 'You, the patient> ' },
  zh: { other: '医生：', prompt: '你（患者）> ' },
} as const

/** The user as the patient, who is told what the patient knows. @throws Fault `bad-input` where the user is the doctor too */
function userAsPatient(agent: string, language: Language, streams: LineStreams): Patient {
  if (agent === 'human')
    throw new Fault('bad-input', '--patient human: expected an --agent to talk with, got none')
  return freePatient({
    chat: humanChat({ ...streams, ...patientWords[language] }),
    knowledge: loadKnowledge(),
  })
}

/** Plays the consultation, prints the true diagnosis and the score, and saves the episode with `--save`. */
async function playConsultation(
  { plan, stage, truth, human, isPatient }: ConsultSetup,
  { save, json }: ConsultFlags,
  { out, signal }: { readonly out: Output; readonly signal: AbortSignal },
): Promise<void> {
  const { task } = stage
  const { language } = task
  const doctor = await stage.openDoctor()
  const played = await play(truth, {
    makeEnv: task.makeEnv,
    agent: human ?? printTurns(agentFor(doctor, truth), out, isPatient),
    agentName: plan.agent,
    // The seeds of an evaluation, so that any of its consultations can be replayed here.
    seeds: evaluationSeeds(plan.recipe.seed, truth.id),
    rewards: { reward: task.reward },
    signal,
  })
  if (Fault.is(played)) throw played
  const { episode } = played
  const score = played.scores.reward
  const last = episode.turns.at(-1)
  const shown = last && !human && turnText(last, episode.turns.length, language, out.paint)
  const answer = last && human && outcomeText(last, language, out.paint)
  if (shown || answer) await out.say(shown || answer || '')
  await out.say(`\n${closingText(episode, truth, score, { language, paint: out.paint })}`)
  if (save !== undefined) {
    const writer = episodeWriter(save)
    await writer.write({ episode, truth: graderView(truth), score })
    await writer.close()
    await out.note(`saved to ${save}`)
  }
  if (json) await out.document({ ...episode, score })
}

/** Runs `bedside consult`. @returns the exit code */
export async function consult(given: ConsultFlags, terminal: Terminal): Promise<number> {
  checkSave(given.save)
  const { agent = 'human', patient: named, ...others } = applyCaseId(given)
  const isPatient = named === 'human'
  const flags = { ...others, ...(isPatient ? {} : withoutUndefined({ patient: named })) }
  const { signal, stdin } = terminal
  const out = output(terminal, { ...flags, out: given.save })
  const plan = await createConsultPlan({ ...flags, agent })
  const screen = { input: stdin, output: out.resultStream }
  const human =
    agent === 'human' ? humanDoctor({ ...screen, language: plan.recipe.language }) : undefined
  const patient = isPatient ? userAsPatient(agent, plan.recipe.language, screen) : undefined
  // A trained doctor may have seen some of a file's cases, so it keeps to the split; others may see all.
  const whole = flags.split === undefined && !isFolder(agent)
  await using stage = await openPlaySession(plan, {
    ...withoutUndefined({ human, patient }),
    ...(whole ? { whole } : {}),
  })
  const truth = await chooseCase(flags.case, plan, stage)
  await out.note(`${truth.id} · ${stage.task.tier} · ${human ? 'you are the doctor' : agent}\n`)
  try {
    await playConsultation({ plan, stage, truth, human, isPatient }, flags, { out, signal })
    const used = usageLine(stage.usage())
    if (used !== '') await out.note(used)
    return 0
  } catch (error) {
    if (!signal.aborted) throw error
    const kept = 'The consultation was not over, so nothing was saved. Again:'
    return reportStop(terminal, kept, repeatCommand(plan, truth, given))
  }
}
