/** `bedside consult`: one consultation, by whoever types or by an agent. */
import { dirname, extname } from 'node:path'
import type { Agent } from '../../agent.js'
import { agentFor } from '../../agent.js'
import { humanDoctor } from '../../agents/human.js'
import type { Case } from '../../case.js'
import { graderView } from '../../case.js'
import { parseCaseId } from '../../cases/generator/case-id.js'
import { Fault } from '../../error.js'
import { play } from '../../rollout.js'
import { evaluationSeeds, uniformInt } from '../../seed.js'
import { isStreamed } from '../../storage/atomic-write.js'
import { episodeWriter } from '../../storage/episode-files.js'
import type { WorldFlags } from '../flags/flags.js'
import { closingText, openingText, outcomeText, turnText } from '../print/consultation-text.js'
import type { Output, Terminal } from '../print/output.js'
import { commandLine, output } from '../print/output.js'
import { stopped } from './failure.js'
import { isFolder } from './run-folder.js'
import type { DoctorFlags, PlayPlan, Stage } from './world.js'
import { caseOf, casesOf, openStage, planOf } from './world.js'

export interface ConsultFlags extends WorldFlags, DoctorFlags {
  readonly case?: string
  readonly save?: string
}

const formats = ['.jsonl', '.parquet']

/** Before the consultation, not after it: what was played must not be lost to a wrong name. */
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

/** A generated case's id decides its tier and clinic; a flag that says otherwise is a contradiction. */
function withCase(flags: ConsultFlags): ConsultFlags {
  const named = flags.case === undefined || flags.cases?.file ? undefined : parseCaseId(flags.case)
  if (!named) return flags
  if (flags.tier !== undefined && flags.tier !== named.tier)
    throw new Fault(
      'bad-input',
      `--tier: expected ${named.tier}, as in --case ${flags.case}, got \`${flags.tier}\``,
    )
  return { ...flags, tier: named.tier, ...(named.clinic ? { clinic: [...named.clinic] } : {}) }
}

/** The plan of a single consultation: no more held-out cases than are played. */
async function onePlan(flags: ConsultFlags & { readonly agent: string }): Promise<PlayPlan> {
  const plan = await planOf(flags)
  const { recipe } = plan
  if (flags.cases !== undefined || recipe.cases.file !== undefined) return plan
  return { ...plan, recipe: { ...recipe, cases: { ...recipe.cases, heldOut: 1 } } }
}

/** The case that was asked for; without an id, the one the seed chooses. */
async function chosenCase(id: string | undefined, plan: PlayPlan, { task }: Stage): Promise<Case> {
  const { file, clinic } = plan.recipe.cases
  if (id !== undefined) return caseOf(id, { file, groups: clinic })
  const cases = casesOf(plan, task)
  const n = file === undefined ? 0 : uniformInt(cases.length, plan.recipe.seed, 'case')
  return cases[n] as Case // below its length
}

/** An agent whose consultation can be watched: each exchange is printed when it is over. */
function watched(agent: Agent, { say, paint }: Output): Agent {
  let shown = -1
  return async (observation, context) => {
    const { intake, turns, language } = observation
    if (shown < 0) await say(`${openingText(intake, language)}\n`)
    shown = Math.max(shown, 0)
    for (; shown < turns.length; shown++) {
      const turn = turns[shown]
      if (turn) await say(turnText(turn, shown + 1, language, paint))
    }
    return agent(observation, context)
  }
}

const againWith = ({ recipe }: PlayPlan, truth: Case, { agent, clinic }: ConsultFlags): string =>
  commandLine(
    'consult',
    '--case',
    truth.id,
    '--lang',
    recipe.language,
    '--seed',
    `${recipe.seed}`,
    ...(agent === undefined ? [] : ['--agent', agent]),
    ...(recipe.cases.file === undefined ? [] : ['--cases', recipe.cases.file]),
    ...(clinic === undefined ? [] : ['--clinic', clinic.join(',')]),
  )

/** A consultation that is about to begin. */
interface Appointment {
  readonly plan: PlayPlan
  readonly stage: Stage
  readonly truth: Case
  /** Whoever types, where somebody does. */
  readonly human: Agent | undefined
}

/** Plays it, shows what was true and what it was worth, and keeps it where that was asked for. */
async function hold(
  { plan, stage, truth, human }: Appointment,
  { save, json }: ConsultFlags,
  { out, signal }: { readonly out: Output; readonly signal: AbortSignal },
): Promise<void> {
  const { task } = stage
  const { language } = task
  const doctor = await stage.openDoctor()
  const played = await play(truth, {
    makeEnv: task.makeEnv,
    agent: human ?? watched(agentFor(doctor, truth), out),
    agentName: plan.agent,
    // As in an evaluation, so that a consultation of one can be looked at.
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

/** Opens the consultation that the flags describe, plays it and shows it. */
export async function consult(given: ConsultFlags, terminal: Terminal): Promise<number> {
  checkSave(given.save)
  const { agent = 'human', ...flags } = withCase(given)
  const { signal, stdin } = terminal
  const out = output(terminal, { ...flags, out: given.save })
  const plan = await onePlan({ ...flags, agent })
  const screen = { input: stdin, output: out.people }
  const human =
    agent === 'human' ? humanDoctor({ ...screen, language: plan.recipe.language }) : undefined
  // A doctor that learned from some of a file's cases keeps to the split; any other may see them all.
  const whole = flags.split === undefined && !isFolder(agent)
  await using stage = await openStage(plan, {
    ...(human ? { human } : {}),
    ...(whole ? { whole } : {}),
  })
  const truth = await chosenCase(flags.case, plan, stage)
  await out.note(`${truth.id} · ${stage.task.tier} · ${human ? 'you are the doctor' : agent}\n`)
  try {
    await hold({ plan, stage, truth, human }, flags, { out, signal })
    return 0
  } catch (error) {
    if (!signal.aborted) throw error
    const kept = 'The consultation was not over, so nothing was saved. Again:'
    return stopped(terminal, kept, againWith(plan, truth, given))
  }
}
