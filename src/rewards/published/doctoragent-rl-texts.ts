/**
 * Gold texts and reply parsing of the released rewards of DoctorAgent-RL and TakesTwo.
 *
 * An episode is read as a dialogue of theirs: the doctor's reply is the turn's raw text, or for an agent that acts
 * without text, the action in the published form; every outcome is the patient's reply. The gold texts are the name of
 * the primary diagnosis, and the recorded recommendation or else the recommended actions.
 */
import { type GraderView, primaryDiagnosis, textInLanguage } from '../../case.js'
import type { EpisodeTurn } from '../../episode.js'
import type { Action, Language } from '../../turn.js'
import type { DiagnoseAction } from '../outcome/diagnosis-list.js'
import { strip } from '../text/python-text.js'

/** The gold texts of a case, in one language; the recommendation is empty where a case recommends nothing. */
export function goldTexts({ gold }: GraderView, language: Language) {
  const advised = gold.actions
    .filter(({ polarity }) => polarity === 'recommend')
    .map(({ text }) => textInLanguage(text, language))
  return {
    diagnosis: textInLanguage(primaryDiagnosis(gold).name, language),
    recommendation: gold.recommendation
      ? textInLanguage(gold.recommendation, language)
      : advised.join(language === 'zh' ? '；' : '; '),
  }
}

/** Writes an action as a published system does: an utterance as it is, an order and a diagnosis by `forms`. */
export function writeAction(
  action: Action,
  forms: {
    readonly order: (exam: string) => string
    readonly diagnose: (given: DiagnoseAction) => string
  },
): string {
  switch (action.kind) {
    case 'ask':
    case 'invalid':
      return action.text
    case 'order':
      return forms.order(action.exam)
    case 'diagnose':
      return forms.diagnose(action)
    case 'give-up':
      return ''
  }
}

/** Writes an action with the published labels; empty for giving up, which has none. */
const writeLabelled = (action: Action): string =>
  action.kind === 'ask'
    ? `Question: ${action.text}`
    : writeAction(action, {
        order: (exam) => `Order: ${exam}`,
        diagnose: ({ diagnosis, recommendation }) =>
          `Diagnosis: ${diagnosis}${recommendation === undefined ? '' : `\nRecommendation: ${recommendation}`}`,
      })

/** The doctor's raw reply. @param tagged whether a reply written from the action gets DoctorAgent-RL's `<answer>` */
export function rawReply({ text, action }: EpisodeTurn, { tagged }: { tagged: boolean }): string {
  if (text !== undefined) return text
  const said = writeLabelled(action)
  return tagged && said !== '' && action.kind !== 'invalid' ? `<answer>${said}</answer>` : said
}

/** Counts the non-overlapping occurrences of `part`. */
export const countSubstring = (text: string, part: string): number => text.split(part).length - 1

/** The text between the first `<answer>` and the next `</answer>`; undefined without such a pair. */
export function readAnswerTag(text: string): string | undefined {
  const start = text.indexOf('<answer>')
  const end = start < 0 ? -1 : text.indexOf('</answer>', start + 8)
  return end < 0 ? undefined : text.slice(start + 8, end)
}

/**
 * Removes every `<tag>…</tag>`, each up to the next end, like `re.sub('<tag>.*?</tag>', '', text)`. The time is linear
 * in the text, also where tags are opened and never closed.
 */
export function removeTag(text: string, tag: string): string {
  const [opening, closing] = [`<${tag}>`, `</${tag}>`]
  let [kept, from] = ['', 0]
  for (;;) {
    const start = text.indexOf(opening, from)
    const end = start < 0 ? -1 : text.indexOf(closing, start + opening.length)
    if (end < 0) return kept + text.slice(from)
    kept += text.slice(from, start)
    from = end + closing.length
  }
}

/**
 * Reads the labelled parts as released: a diagnosis up to the next recommendation, a recommendation up to the end of
 * its line, so that one on the next line is empty. A part is absent without its label and a colon.
 */
export function readLabels(text: string): {
  readonly diagnosis?: string
  readonly recommendation?: string
} {
  const diagnosis = /Diagnosis[:：]([\s\S]*?)(?=Recommendation[:：]|$)/.exec(text)?.[1]
  const recommendation = /Recommendation[:：]([^\n]*)/.exec(text)?.[1]
  return {
    ...(diagnosis === undefined ? {} : { diagnosis: strip(diagnosis) }),
    ...(recommendation === undefined ? {} : { recommendation: strip(recommendation) }),
  }
}
