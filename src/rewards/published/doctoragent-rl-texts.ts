/**
 * The texts that the rewards of DoctorAgent-RL and of TakesTwo compare, and how their released code reads a reply.
 *
 * How an episode is read as a dialogue of theirs: a doctor's reply is the turn's raw text, or where an agent acts without
 * writing, the action in the published form; what came back is the patient's, whatever it is; the gold texts are the
 * primary diagnosis' name and the recorded recommendation, or the recommended actions where none was recorded.
 */
import type { GraderView } from '../../case.js'
import { inLanguage, primary } from '../../case.js'
import type { EpisodeTurn } from '../../episode.js'
import type { Action, Language } from '../../turn.js'

export interface GoldTexts {
  readonly diagnosis: string
  /** Empty where a case says nothing of what to advise. */
  readonly recommendation: string
}

export function goldTexts({ gold }: GraderView, language: Language): GoldTexts {
  const advised = gold.actions
    .filter(({ polarity }) => polarity === 'recommend')
    .map(({ text }) => inLanguage(text, language))
  return {
    diagnosis: inLanguage(primary(gold).name, language),
    recommendation: gold.recommendation
      ? inLanguage(gold.recommendation, language)
      : advised.join(language === 'zh' ? '；' : '; '),
  }
}

/** An action in the published labels; empty for giving up, for which they have no word. */
function written(action: Action): string {
  switch (action.kind) {
    case 'ask':
      return `Question: ${action.text}`
    case 'order':
      return `Order: ${action.exam}`
    case 'diagnose':
      return action.recommendation === undefined
        ? `Diagnosis: ${action.diagnosis}`
        : `Diagnosis: ${action.diagnosis}\nRecommendation: ${action.recommendation}`
    case 'invalid':
      return action.text
    case 'give-up':
      return ''
  }
}

/** The doctor's raw reply. @param tagged within DoctorAgent-RL's `<answer>` where it has to be written from the action */
export function replyOf({ text, action }: EpisodeTurn, { tagged }: { tagged: boolean }): string {
  if (text !== undefined) return text
  const said = written(action)
  return tagged && said !== '' && action.kind !== 'invalid' ? `<answer>${said}</answer>` : said
}

/** What Python's `str.strip` takes off; JavaScript's `trim` lacks five of them and has U+FEFF. */
const isSpace = (code: number): boolean =>
  (code >= 0x1c && code <= 0x1f) ||
  code === 0x85 ||
  (code !== 0xfeff && String.fromCharCode(code).trim() === '')

/** Python's `str.strip`. */
export function strip(text: string): string {
  let [start, end] = [0, text.length]
  while (start < end && isSpace(text.charCodeAt(start))) start++
  while (end > start && isSpace(text.charCodeAt(end - 1))) end--
  return text.slice(start, end)
}

export const countOf = (text: string, part: string): number => text.split(part).length - 1

/** What stands within the first `<answer>` and the next `</answer>`; undefined without such a pair. */
export function withinAnswer(text: string): string | undefined {
  const start = text.indexOf('<answer>')
  const end = start < 0 ? -1 : text.indexOf('</answer>', start + 8)
  return end < 0 ? undefined : text.slice(start + 8, end)
}

/**
 * The labelled parts as released: a diagnosis up to the next recommendation, a recommendation up to its line's end, so
 * that one on the next line is empty. Undefined without the label and a colon.
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
