/**
 * A vocabulary: everything a scripted or embedded doctor can say, one action each, in a fixed order.
 * A list of whole utterances, where a language model has a list of word pieces.
 */
import type { Action, Language } from '../turn.js'
import type { Knowledge } from './knowledge.js'

export interface ActionSpace {
  readonly language: Language
  readonly actions: readonly Action[]
  /** Changes when an action is added, removed, moved or reworded; checkpoints carry it. */
  readonly fingerprint: string
}

export function actionSpace(language: Language, actions: readonly Action[]): ActionSpace {
  if (!actions.some((action) => action.kind === 'diagnose'))
    throw new RangeError('Expected a vocabulary with at least one diagnosis, got none')
  // Loaded late: it takes longer than the rest of the first step.
  const { createHash } = process.getBuiltinModule('node:crypto')
  const fingerprint = createHash('sha256')
    .update(JSON.stringify([language, actions]))
    .digest('hex')
    .slice(0, 16)
  return { language, actions, fingerprint }
}

/** Every patient-known finding's first question, every examination by name, every disease by name. */
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
