/**
 * Judge prompts in the form of the published systems, for their released formulas: one message or two, the same fields
 * in the same order under the same marks, the same scale, reply format and sampling. The sentences are this package's
 * own. Two things differ: DoctorAgent-RL begins the judge's reply with `<think>`, which a chat request cannot; and no
 * field's text can stand in for another field.
 *
 * Sources: MrlX-TakesTwo `patient_prompt_template/docagent.txt`, DoctorAgent-RL `eval_prompt_template_v2.txt`, DiagGym
 * `reward_score/diagnose.py` (bc49719), GRPODx `get_reward_score` (7a3666e), `techspec.txt` and
 * `DoctorGame.compute_reward` (c94d1bb).
 */
import type { ChatOptions, Message } from '../../chat.js'
import { pythonList } from '../text/python-text.js'
import type { JudgedLine, JudgeRequest, JudgeTask } from './judge.js'
import type { RequestOf } from './read-reply.js'

/** A rendered prompt, with its sampling; without a seed every try has its own. */
export interface JudgePrompt {
  readonly messages: readonly Message[]
  readonly settings: Pick<ChatOptions, 'temperature' | 'seed' | 'maxTokens'>
}

/** Renders requests; undefined for a task without a prompt, which is asked in this package's own words. */
export type JudgePrompts = (request: JudgeRequest) => JudgePrompt | undefined

type Writers = { readonly [T in JudgeTask]?: (request: RequestOf<T>) => string }

/** Prompts of one user message, after an optional system message. */
const promptsOf =
  (writers: Writers, settings: JudgePrompt['settings'], system?: string): JudgePrompts =>
  (request) => {
    // The table's type ties each task to the writer of its own requests.
    const write = writers[request.task] as ((request: JudgeRequest) => string) | undefined
    if (!write) return undefined
    const user: Message = { role: 'user', content: write(request) }
    return { messages: system ? [{ role: 'system', content: system }, user] : [user], settings }
  }

const writeDialogue = (
  dialogue: readonly JudgedLine[],
  {
    doctor,
    other,
    colon,
  }: { readonly doctor: string; readonly other: string; readonly colon: string },
): string =>
  dialogue
    .map(({ role, text }) => `${role === 'doctor' ? doctor : other}${colon}${text}`)
    .join('\n')

const takestwo = promptsOf(
  {
    'patient-conduct': ({ profile, diagnosis = '', recommendation = '', dialogue }) =>
      `Rate how a simulated patient answered a doctor in a consultation.
Original self-report: ${profile}
Diagnosis: ${diagnosis}
Recommendation: ${recommendation}
Doctor’s questions and simulated patient answers: ${writeDialogue(dialogue, { doctor: 'Doctor', other: 'Patient', colon: '：' })}
Rate three things:
1. Information Control Rate (0-1):
- Did the patient tell things that the doctor had not asked for?
- Each such thing costs 0.2: max(0, 1 - 0.2 × things told unasked)
2. Response Completeness Rate (0-1):
- Did the patient answer everything that was asked?
- Each thing left out costs 0.2: max(0, 1 - 0.2 × things left out)
3. Factual Conflict Rate (0-1):
- Did the patient say the very opposite of the self-report?
- Each opposite costs 0.2, and 1 is no conflict: min(1, 1 - 0.2 × opposites)
Reply with JSON alone:
{
    "information_control_rate": float,
    "response_completeness_rate": float,
    "factual_conflict_rate": float
}`,
  },
  { temperature: 0.6 },
)

const doctoragentRl = promptsOf(
  {
    similarity: ({ reference, answer }) =>
      `Task: You are a medical expert. Compare a text that a model wrote with the reference, by meaning.
Give 0 to 5 points; other words for the same thing cost nothing.

Criteria:
5: The same meaning.
4: The same but for small details.
3: The core is shared in part, and important things differ.
2: Little is shared; key details or the context differ.
1: Hardly anything is shared.
0: Nothing is shared.

Now evaluate:
Models' Prediction: "${answer}"
Ground-truth: "${reference}"

OUTPUT FORMAT: <think> [your thoughts] </think><answer> [the points] </answer>
`,
  },
  { temperature: 0.01, maxTokens: 256 },
)

const countExams = ({ items, list, itemsAre = 'ordered' }: RequestOf<'count-matched'>): string => {
  const ordered = itemsAre === 'ordered'
  const [these, those] = ordered ? ['recommended', 'key'] : ['key', 'recommended']
  return `
How many of the ${these} exams are in the ${those} exam list? The same examination by another name counts.

Key exam list: ${pythonList(ordered ? list : items)}
Recommended exam list: ${pythonList(ordered ? items : list)}

Go through each item in the ${these} exam list and look for its counterpart in the ${those} exam list.

Reply with the number of matches alone, as an integer. For example: ${ordered ? 3 : 2}
`
}

const diagagent = promptsOf(
  {
    'same-diagnosis': ({ reference, answer }) =>
      `# Task
You evaluate medical diagnoses. You are given the diagnosis that a model predicted ([pred_diag]) and the confirmed one ([gt_diag]). Say whether the prediction is right.

Keep in mind:
1.A disease may have several names.
2.The same may be said in several ways.
3.Only the diagnosis counts; causes, symptoms and treatment do not.
4.A prediction that holds the confirmed diagnosis and adds complications is right.

# Output
Reply with “Correct|Wrong” and nothing else.

# Format
[Correct|Wrong]

Below is the diagnosis result of the model, and the confirmed one:
[pred_diag]
${answer}

[gt_diag]
${reference}`,
    'count-matched': countExams,
  },
  { temperature: 0, seed: 42, maxTokens: 1024 },
)

const grpodxLines = (dialogue: readonly JudgedLine[]): string =>
  writeDialogue(dialogue, { doctor: 'Doctor', other: 'Patient', colon: ': ' })

const grpodxReadme = promptsOf(
  {
    consultation: ({ disease, dialogue }) =>
      `System:
You teach medicine and evaluate how a doctor made a diagnosis.

The patient had: ${disease}

Give the doctor a score from 0.0 to 1.0 for:
1. How thorough the reasoning is (<reason> blocks)
2. How much to the point the questions are
3. How right the final diagnosis is, against ${disease}
4. How few turns it took

A diagnosis that is right in part, or of the right kind, is worth a part.

Analyze the conversation first. Begin your reply with one score from 0.0 to 1.0.

What scores stand for:
- 0.9-1.0: the diagnosis is right or nearly, the reasoning excellent
- 0.7-0.8: the diagnosis is right, the reasoning good
- 0.5-0.6: the diagnosis is right in part, or the reasoning good and the conclusion not
- 0.3-0.4: on the way, with key things missing
- 0.0-0.2: the diagnosis is wrong, the reasoning poor

Conversation to evaluate:
${grpodxLines(dialogue)}
`,
  },
  { temperature: 0.2, maxTokens: 256 },
)

const grpodxTechspec = promptsOf(
  {
    consultation: ({ disease, dialogue }) =>
      `System:
You evaluate medical conversations. You see the whole dialogue with the doctor's <reason> blocks. The hidden disease was: ${disease}.

Give one float in [0..1], as the first number of your reply, for:
1) How thorough and right the hidden reasoning is (<reason>...</reason>).
2) How right the final diagnosis is, against ${disease} (near is worth a part).
3) How specific and relevant the questions are.

Conversation:
${grpodxLines(dialogue)}
`,
  },
  {},
)

const grpodxHead = promptsOf(
  {
    consultation: ({ disease, diagnosis = '', dialogue }) =>
      `Evaluate this conversation of a doctor and a patient as a medical expert:

Hidden condition: ${disease}
Doctor's final diagnosis: ${diagnosis}

Conversation:
${grpodxLines(dialogue)}

Provide a score from 0.0 to 1.0 for:
1. The diagnosis (70% weight): how right is it?
   - A wrong one costs much
2. The questions (30% weight): are they relevant and logical?
   - Poor ones score low
   - Good, targeted ones score high
   - Too few score low, where more would have helped

REPLY WITH ONE NUMBER BETWEEN 0 AND 1 AND NOTHING ELSE.`,
  },
  { temperature: 0.1, maxTokens: 20 },
  'You evaluate medical conversations and reply with a number alone.',
)

/** The prompts of each published system with a judge. */
export const publishedPrompts = {
  takestwo,
  'doctoragent-rl': doctoragentRl,
  diagagent,
  'grpodx-readme': grpodxReadme,
  'grpodx-techspec': grpodxTechspec,
  'grpodx-head': grpodxHead,
} as const satisfies Readonly<Record<string, JudgePrompts>>

/** The name of a published system's prompts. */
export type PublishedPrompts = keyof typeof publishedPrompts

const byReward: Readonly<Record<string, PublishedPrompts>> = {
  'takestwo-patient': 'takestwo',
  'doctoragent-judge': 'doctoragent-rl',
  dei: 'doctoragent-rl',
  diagagent: 'diagagent',
  'diagagent-paper': 'diagagent',
  'grpodx-readme': 'grpodx-readme',
  'grpodx-head': 'grpodx-head',
}

/** The prompts for the judge of a named reward: the published ones for a released form, else this package's own. */
export function judgePromptsOf(reward: string): PublishedPrompts | 'own' {
  const [name = ''] = reward.split(':')
  return (name.endsWith('-parity') && byReward[name.slice(0, -'-parity'.length)]) || 'own'
}
