/** What a job runs: its command, its variables and its files, as a recipe says them. */
import { join } from 'node:path'
import type { Grammar } from '../../agent.js'
import { Fault } from '../../error.js'
import { fork } from '../../seed.js'
import type { Task } from '../../tasks/task.js'
import { filesOf } from '../../trainers/jobs/package.js'
import { pythonPackage } from '../../trainers/sidecar/environment.js'
import type { ChatTokenizer } from '../../trainers/tokens/chat-tokenizer.js'
import { checkTemplate } from '../../trainers/tokens/template-check.js'
import { openTokenSession } from '../../trainers/tokens/token-session.js'
import { type JobLimits, type JobRecipe, trainerCheckpoints } from './job-recipe.js'
import { modelContext } from './model-folder.js'
import { flagWords, slimeCommand, slimeEvaluation, slimeStandInSettings } from './slime-settings.js'
import { hydraWords, verlCommand, verlStandInSettings } from './verl-settings.js'

/** Training cases whose first prompts are measured. */
const measured = 32
/** First prompts may be longer than those measured, by this factor. */
const spare = 1.25

/** Tokens of the longest first prompt, with some to spare. */
export async function longestOpening(
  task: Task,
  tokenizer: ChatTokenizer,
  grammar: Grammar,
): Promise<number> {
  let longest = 0
  for (const truth of task.train(measured)) {
    await using session = await openTokenSession(
      { env: task.makeEnv(), tokenizer, grammar, maxTokens: 1, contextLength: 2 ** 30 },
      { seed: 0, options: { case: truth } },
    )
    if (!session.next.done) longest = Math.max(longest, session.next.prompt.length)
  }
  return Math.ceil((longest * spare) / 64) * 64
}

/** The context window of a job's model. @throws Fault `bad-input` where it is not known, or less than the recipe's */
export async function contextLengthOf({ model, policy }: JobRecipe): Promise<number> {
  const own = await modelContext(model)
  const { contextLength = own } = policy
  if (contextLength === undefined)
    throw new Fault(
      'bad-input',
      `policy.contextLength: expected the tokens that the model can hold, which ${model} does not say, got none`,
    )
  if (own !== undefined && contextLength > own)
    throw new Fault(
      'bad-input',
      `policy.contextLength: expected at most ${own}, the positions of ${model}, got \`${contextLength}\``,
    )
  return contextLength
}

/** Refuses a template by which a consultation is no single stream of tokens. @throws Fault `bad-input` */
export async function assertAppendOnly({ backend, model, policy }: JobRecipe): Promise<void> {
  const check = await checkTemplate(model)
  // slime takes several samples of one consultation.
  if (check.ok || (backend === 'slime' && policy.history === 'strip-reasoning')) return
  throw new Fault(
    'bad-input',
    `policy.model: expected a chat template that only adds to a conversation, got that of ${model}, which writes ${check.forks} turns anew; \`bedside template check ${model}\` shows where${backend === 'slime' ? ', and `policy.history: strip-reasoning` makes several samples of such a consultation' : ''}`,
  )
}

/** Checks that a consultation has room. @throws Fault `bad-input` */
export function assertRoom(
  { policy }: JobRecipe,
  { promptLength, contextLength }: JobLimits,
): void {
  if (promptLength + policy.maxTokens < contextLength) return
  throw new Fault(
    'bad-input',
    `policy.contextLength: expected more than ${promptLength + policy.maxTokens}, which are a first prompt of ${promptLength} tokens and one reply, got \`${contextLength}\``,
  )
}

/** Rows of cases by number, as the plugin of verl reads them: a patient for each group. */
const rows = (split: 'train' | 'heldout', count: number, seed: number): Uint8Array => {
  const lines = Array.from({ length: count }, (_, index) => {
    const consultation = JSON.stringify({ split, index, seed: fork(seed, 'job', index) })
    return JSON.stringify({
      // For verl's own filters: the first messages come from the server.
      prompt: [{ role: 'user', content: `Consultation ${split} ${index}` }],
      ...{ data_source: 'bedside', ability: 'consultation', agent_name: 'bedside' },
      reward_model: { style: 'rule', ground_truth: '' },
      extra_info: { index, consultation },
    })
  })
  return Buffer.from(lines.map((line) => `${line}\n`).join(''))
}

const agents = Buffer.from(
  '- name: bedside\n  _target_: bedside_trainers.verl.agent_loop.BedsideAgentLoop\n',
)

/** Files of a job: the plugin, and what its trainer reads. */
export async function jobFiles(
  { backend, recipe, training }: JobRecipe,
  { validated }: JobLimits,
): Promise<ReadonlyMap<string, Uint8Array>> {
  const plugin = await filesOf(
    join(pythonPackage(), 'bedside_trainers'),
    /\.py$/,
    'bedside_trainers',
  )
  const heldOut: [string, Uint8Array] = ['heldout.jsonl', rows('heldout', validated, recipe.seed)]
  if (backend === 'slime') return new Map([...plugin, heldOut])
  const { steps, groupsPerStep } = training
  return new Map([
    ...plugin,
    heldOut,
    ['train.jsonl', rows('train', steps * groupsPerStep, recipe.seed)],
    ['agents.yaml', agents],
  ])
}

/** Where a job's server and files are. */
export interface JobPlaces {
  readonly url: string
  readonly tokenFile: string
  readonly metrics: string
}

/** Variables of a job: what its plugin plays, and where its numbers go. */
export function jobVariables(
  job: JobRecipe,
  limits: JobLimits,
  { url, tokenFile, metrics }: JobPlaces,
): Readonly<Record<string, string>> {
  const { policy, training, cluster, backend } = job
  const { minScored, truncated } = training.groups
  const own = {
    name: training.advantages,
    ...(minScored === undefined ? {} : { min_scored: minScored }),
    ...(truncated === 'keep' ? {} : { truncated }),
  }
  return {
    BEDSIDE_URL: url,
    BEDSIDE_TOKEN_FILE: tokenFile,
    BEDSIDE_TOKENS: JSON.stringify({
      ...{
        max_tokens: policy.maxTokens,
        context_length: limits.contextLength,
        history: policy.history,
      },
    }),
    BEDSIDE_METRICS: metrics,
    BEDSIDE_EVAL: JSON.stringify(slimeEvaluation(limits)),
    ...(cluster.advantages === 'bedside' ? { BEDSIDE_ADVANTAGE: JSON.stringify(own) } : {}),
    PYTHONUNBUFFERED: '1',
    ...(backend === 'slime'
      ? { PYTHONPATH: cluster.megatron, CUDA_DEVICE_MAX_CONNECTIONS: '1' }
      : { VERL_USE_EXTERNAL_MODULES: 'bedside_trainers.verl.plugin' }),
  }
}

/** The command of a trainer. */
export const jobCommand = (job: JobRecipe, limits: JobLimits): readonly string[] =>
  job.backend === 'slime' ? slimeCommand(job, limits) : verlCommand(job, limits)

/** The command of a trainer's stand-in on a CPU. */
export function standInCommand(
  job: JobRecipe,
  limits: JobLimits,
  python: string,
): readonly string[] {
  const { backend, training, recipe, model } = job
  const { steps, groupsPerStep, groupSize, adam, temperature } = training
  const settings = {
    ...{ model, steps, groups: groupsPerStep, 'group-size': groupSize, lr: adam.learningRate },
    ...{ seed: recipe.seed, out: trainerCheckpoints(limits.out) },
  }
  const run = [python, '-m', `bedside_trainers.${backend}.stand_in`]
  if (backend === 'slime') {
    const own = {
      temperature,
      'max-grad-norm': adam.maxGradNorm ?? 0,
      ...slimeStandInSettings(job),
    }
    return [...run, ...flagWords({ ...settings, ...own })]
  }
  const own = { heldout: limits.validated, 'max-prompt-length': limits.promptLength }
  const overrides = hydraWords(verlStandInSettings(job, limits))
  return [...run, ...flagWords({ ...settings, ...own }), ...overrides]
}
