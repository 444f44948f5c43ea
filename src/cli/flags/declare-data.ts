/** Declares the commands about cases, patients, knowledge and saved episodes. */

import type { Command } from 'commander'
import { grammarNames } from '../../agents/grammars/named.js'
import { advantageNames } from '../../group.js'
import type { Declare } from './declare.js'
import {
  addCaseFlags,
  addSeedFlags,
  addSplitFlag,
  choose,
  collect,
  parseCases,
  parseFinite,
  parseSeed,
  parseWhole,
  trustHelp,
} from './flags.js'

/** Adds `cases` and its subcommands. */
export function addCases(program: Command, declare: Declare): void {
  const cases = program
    .command('cases')
    .description('Generates, imports, checks and shows cases; prints their JSON Schema.')
  const generate = declare(cases, 'generate', {
    says: 'Generated cases as JSONL, on stdout or in a file.',
    load: async () => (await import('../commands/cases.js')).generateCases,
    examples: ['cases generate --tier hard --cases 100 --seed 3 --out hard.jsonl'],
  }).option('--out <FILE>', 'write here, whole or not at all')
  addSeedFlags(addCaseFlags(addSplitFlag(generate, 'train'), 'how many (default: 10)'))
  declare(cases, 'import', {
    says: 'Imports a published data set as a case file, or as episodes to imitate (huatuo-sft), and reports what was left out and why.',
    load: async () => (await import('../commands/cases-import.js')).importCases,
    examples: [
      'cases import --format dialogues consultations.jsonl --out cases.jsonl',
      'cases import --format mtmeddialog sft_val.parquet --out cases.jsonl',
      'cases import --format huatuo-sft sft.json --out demonstrations.jsonl',
    ],
  })
    .argument('<file>', 'the file to read')
    .requiredOption('--format <NAME>', 'dialogues, mtmeddialog, huatuo-rl or huatuo-sft')
    .requiredOption('--out <FILE>', 'the file to write, whole or not at all')
  addCheckAndShow(cases, declare)
}

function addCheckAndShow(cases: Command, declare: Declare): void {
  const check = declare(cases, 'check', {
    says: 'Checks a case file, or generated cases, for schema errors and leaks; exit code 1 when it finds any.',
    load: async () => (await import('../commands/cases.js')).checkCases,
    examples: ['cases check --cases cases.jsonl', 'cases check --cases 2000 --split heldout'],
  })
  const checked = 'a case file, or how many generated cases (default: 200)'
  addSeedFlags(addCaseFlags(addSplitFlag(check, 'train'), checked))
  declare(cases, 'schema', {
    says: 'The JSON Schema of a case, for editors and other programs.',
    load: async () => (await import('../commands/cases.js')).showSchema,
    examples: ['cases schema > case.schema.json'],
  })
  const views = ['doctor', 'patient', 'examiner', 'grader']
  const show = declare(cases, 'show', {
    says: 'Shows one case as the doctor, patient, examiner or grader sees it.',
    load: async () => (await import('../commands/cases.js')).showCase,
    examples: ['cases show easy-heldout-0-7 --view grader --lang zh'],
  })
    .argument('[ID]', 'tier-split-seed-number, or an id of the --cases file (default: the first)')
    .addOption(choose('--view <view>', 'whose view (default: doctor)', views))
  addSeedFlags(addCaseFlags(show, 'a case file'))
}

/** Adds `patient` and its subcommand. */
export function addPatient(program: Command, declare: Declare): void {
  const patient = program
    .command('patient')
    .description('The rule patient: how it understands what a doctor says.')
  declare(patient, 'understand', {
    says: 'Shows how each utterance is understood: arguments give a table, {"text": …} lines on stdin give JSON lines.',
    load: async () => (await import('../commands/patient.js')).understandAll,
    examples: [
      'patient understand "Does the pain spread anywhere?" "有没有恶心、想吐？"',
      'patient understand < questions.jsonl > understood.jsonl',
    ],
  })
    .argument('[TEXT...]', 'what the doctor says, in Chinese or English')
    .option('--knowledge <DIR>', 'a knowledge base of your own (default: the one of the package)')
}

/** Adds `knowledge` and its subcommand. */
export function addKnowledge(program: Command, declare: Declare): void {
  const knowledge = program
    .command('knowledge')
    .description('The disease knowledge base that cases, patients and oracles share.')
  declare(knowledge, 'check', {
    says: 'Checks ids, edges, probabilities, both languages and ambiguous phrases; counts the contents.',
    load: async () => (await import('../commands/knowledge.js')).checkKnowledge,
    examples: ['knowledge check', 'knowledge check ./my-knowledge --json'],
  }).argument('[DIR]', 'a folder of *.json files (default: the knowledge base of the package)')
}

function addAudit(rewards: Command, declare: Declare): void {
  const audit = declare(rewards, 'audit', {
    says: 'Measures what a reward pays degenerate doctors, who list, pad, repeat, flatter, inject or guess; exit code 1 when one exploits it.',
    load: async () => (await import('../commands/audit.js')).auditReward,
    examples: [
      'rewards audit --reward default --tier standard',
      'rewards audit --reward ./my-reward.mjs --cases 100 --search',
      'rewards audit --reward history-coverage --lang zh --json',
    ],
  })
    .requiredOption(
      '--reward <NAME|FILE>',
      'a name of `rewards list`, or a .js/.mjs module that exports `reward`',
    )
    .option(
      '--search',
      'also trains an adversary on the reward: a doctor that never hears an answer',
    )
    .option(
      '--budget <N>',
      'consultations the search may play (default: 20000); implies --search',
      parseWhole(128, 100_000_000),
    )
  addSeedFlags(addCaseFlags(audit, 'a case file, or how many held-out cases (default: 500)'))
}

/** Long because each option is declared with its help. */
function addScore(rewards: Command, declare: Declare): void {
  declare(rewards, 'score', {
    says: 'Scores saved episodes, or logged dialogues, with other rewards, in one pass; nothing is played, and no model is called but a judge that is named.',
    load: async () => (await import('../commands/rewards.js')).scoreEpisodes,
    examples: [
      'rewards score runs/demo-20260101-120000 --reward diagnosis-accuracy',
      'rewards score episodes.parquet --reward default --reward ./my-reward.mjs --json',
      'rewards score episodes.parquet --reward safety-first --out scored.parquet',
      'rewards score runs/demo --reward grpodx-head --set models.judge.model=qwen3-8b --set models.judge.base-url=http://localhost:8000/v1',
      'rewards score chats.jsonl --cases cases.jsonl --reward diagnosis-accuracy --reward grpodx-head-parity',
    ],
  })
    .argument(
      '<path...>',
      'files (.jsonl, .parquet) of episodes or chats, folders with such files, run directories',
    )
    .requiredOption(
      '--reward <NAME|FILE>',
      'a name of `rewards list`, or a .js/.mjs module that exports `reward`; may be repeated',
      collect,
    )
    .option(
      '--out <FILE>',
      'write the episodes with the scores of a single --reward, *.parquet or *.jsonl',
    )
    .option('--cases <FILE>', 'the cases of chats that name one by `caseId`', parseCases)
    .addOption(
      choose('--grammar <name>', 'of the doctors of chats (default: spoken)', grammarNames),
    )
    .option('--seed <N>', 'of the bootstrap (default: 0)', parseSeed)
    .option(
      '--concurrency <N>',
      'episodes scored at once; helps a reward that waits for a judge (default: 8)',
      parseWhole(1, 1024),
    )
    .option(
      '--set <models.…=value>',
      'settings of the judge of judged rewards, as models.judge.model=NAME; may be repeated',
      collect,
    )
}

function addSignal(rewards: Command, declare: Declare): void {
  declare(rewards, 'signal', {
    says: 'Attributes the advantages of saved groups to the parts of the reward; warns when a small part dominates.',
    load: async () => (await import('../commands/signal.js')).showSignal,
    examples: ['rewards signal runs/demo', 'rewards signal runs/demo --advantages grpo'],
  })
    .argument('<path>', 'a run directory, or a .jsonl or .parquet file of its episodes')
    .addOption(choose('--advantages <name>', "the estimator (default: the run's)", advantageNames))
    .option('--reward <NAME|FILE>', "whose weights are used (default: the run's)")
    .option('--trust', trustHelp)
}

const promptNames = [
  'own',
  'takestwo',
  'doctoragent-rl',
  'diagagent',
  'grpodx-readme',
  'grpodx-techspec',
  'grpodx-head',
]

function addJudgeCheck(rewards: Command, declare: Declare): void {
  declare(rewards, 'judge-check', {
    says: 'Holds a judge against a labelled set: accuracy, agreement, kappa, confusion. Several judges or models are a panel.',
    load: async () => (await import('../commands/judge-check.js')).checkJudgeCommand,
    examples: [
      'rewards judge-check labelled.jsonl',
      'rewards judge-check labelled.jsonl --model qwen3-8b --base-url http://localhost:8000/v1 --swap',
      'rewards judge-check labelled.jsonl --model qwen3-8b --votes 5 --temperature 0.7 --json',
    ],
  })
    .argument('<file>', 'JSON lines: a request to a judge with its `label` (docs/rewards.md)')
    .option(
      '--judge <NAME|FILE>',
      'rule, or a .js/.mjs module that exports `judge`; may be repeated (default: rule)',
      collect,
    )
    .option('--model <NAME>', 'a chat model as the judge; may be repeated', collect)
    .option('--base-url <URL>', 'its server, OpenAI-compatible (default: $OPENAI_BASE_URL)')
    .addOption(
      choose('--prompts <name>', "our own, or a published system's (default: own)", promptNames),
    )
    .option('--temperature <X>', 'of our own prompts (default: 0)', parseFinite)
    .option('--votes <N>', 'votes of each judge (default: 1)', parseWhole(1, 99))
    .option('--swap', 'each vote in both orders of what is compared')
    .option('--asks <N>', 'for an unreadable reply, at most (default: 2)', parseWhole(1, 99))
    .option('--concurrency <N>', 'requests at once (default: 8)', parseWhole(1, 1024))
    .option('--seed <N>', 'of the bootstrap (default: 0)', parseSeed)
}

/** Adds `rewards` and its subcommands. */
export function addRewards(program: Command, declare: Declare): void {
  const rewards = program
    .command('rewards')
    .description("Lists, scores and audits rewards; attributes a run's advantages to their parts.")
  declare(rewards, 'list', {
    says: 'Every reward by name, with its bounds and where it comes from.',
    load: async () => (await import('../commands/rewards.js')).listRewards,
  })
  addScore(rewards, declare)
  addSignal(rewards, declare)
  addAudit(rewards, declare)
  addJudgeCheck(rewards, declare)
}
