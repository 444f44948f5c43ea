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
}

/** Makes an action space. @throws RangeError without a diagnosis among the actions */
export function actionSpace(language: Language, actions: readonly Action[]): ActionSpace {
  if (!actions.some((action) => action.kind === 'diagnose'))
    throw new RangeError('Expected an action space with at least one diagnosis, got none')
  // Loaded late: it takes longer than the rest of the first step.
  const { createHash } = process.getBuiltinModule('node:crypto')
  const fingerprint = createHash('sha256')
    .update(JSON.stringify([language, actions]))
    .digest('hex')
    .slice(0, 16)
  return { language, actions, fingerprint }
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
