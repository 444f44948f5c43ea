/**
 * The action space of a scripted or embedded doctor: a fixed, ordered list of actions (whole utterances), where a
 * language model has a vocabulary of word pieces.
 */
import type { Action, Language } from '../turn.js'
import type { Knowledge } from './knowledge.js'

/** A fixed, ordered list of actions in one language. */
export interface ActionSpace {
  readonly language: Language
  readonly actions: readonly Action[]
  /** Hash of language and actions; checkpoints carry it. */
  readonly fingerprint: string
  /** Whether an action may be taken again, and the last turn is like the others. @default false */
  readonly repeatable?: boolean
}

function fingerprintOf(language: Language, actions: readonly Action[]): string {
  // Loaded late: it takes longer than the rest of the first step.
  const { createHash } = process.getBuiltinModule('node:crypto')
  const text = JSON.stringify([language, actions])
  return createHash('sha256').update(text).digest('hex').slice(0, 16)
}

/** Makes an action space. @throws RangeError without a diagnosis among the actions */
export function actionSpace(language: Language, actions: readonly Action[]): ActionSpace {
  if (!actions.some((action) => action.kind === 'diagnose'))
    throw new RangeError('Expected an action space with at least one diagnosis, got none')
  return { language, actions, fingerprint: fingerprintOf(language, actions) }
}

/**
 * The action space of a role that only replies, such as a policy patient: names of replies, which it may choose again.
 * @throws RangeError for fewer than two
 */
export function replySpace(language: Language, replies: readonly string[]): ActionSpace {
  if (replies.length < 2)
    throw new RangeError(`Expected at least two replies to choose from, got ${replies.length}`)
  const actions = replies.map((text): Action => ({ kind: 'ask', text }))
  return { language, actions, fingerprint: fingerprintOf(language, actions), repeatable: true }
}

/** The action space of a knowledge base: a question per patient-known finding, all examinations and diseases. */
export function knowledgeActionSpace(knowledge: Knowledge, language: Language): ActionSpace {
  return actionSpace(language, [
    ...knowledge.findings
      .filter((finding) => finding.knownBy === 'patient')
      .map(
        (finding): Action => ({
          kind: 'ask',
          text: finding.ask[language][0] ?? finding.name[language],
        }),
      ),
    ...knowledge.exams.map((exam): Action => ({ kind: 'order', exam: exam.name[language] })),
    ...knowledge.diseases.map(
      (disease): Action => ({
        kind: 'diagnose',
        diagnosis: disease.name[language],
        recommendation: disease.recommend
          .map((id) => knowledge.actions.get(id)?.[language] ?? id)
          .join(language === 'zh' ? '' : ' '),
      }),
    ),
  ])
}
