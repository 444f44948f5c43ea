/** Questions about other people than the patient: relatives, and those who may have infected the patient. */
import type { PhraseMatch } from '../../../text/phrase-search.js'
import * as act from './acts.js'

import {
  isFindingMatch,
  languageByScript,
  type PhrasedSentence,
  removeMatches,
} from './finding-match.js'
import type { LexiconEntry } from './lexicon.js'

/** The finding that a question about symptoms of people around the patient is about. */
export const contactFinding = 'sick-contact'
/** Contact with those who are ill. */
const contact =
  /(?:接触过?|跟|和|与)[^，]{0,10}(?:病人|患者|(?:生病|发烧|感冒|咳嗽|拉肚子)的)|有(?:没有)?(?:人|谁|别人|别的)?[^，]{0,4}(?:跟|和|同)(?:你|他|她|孩子|宝宝)[^，]{0,4}一(?:块|起|同)[^，]{0,3}[病烧咳拉吐]|(?:身边|周围|旁边)(?:有没有|有)[^你，]{0,10}的人/
const atOnce = /也|最近|近来|这[几两]天|同时|一起|同事|同学|同屋|室友|邻居|发烧|发热|感冒|拉肚子|传/
const sick = /生病|得病|病了|病倒|感冒|传染|中招|(?:跟|和)你(?:一样|差不多)/
/** People whom the patient has been with, in English, and whether they are ill. */
const met =
  /\b(?:been (?:round|around|near|with|close to|exposed to|in contact with)|contact with|exposed to|(?:mix|play)(?:ed|ing)? with|met) (?:\w+ ){0,2}?(?:anyone|anybody|someone|somebody|people|children|kids|others?)\b|\b(?:is|are|was|has|does|do) (?:anyone|anybody|someone|somebody) else\b(?!.*\b(?:live|lives|smoke|smokes|with you|there|see|saw|noticed)\b)|\b(?:anyone|anybody|someone|somebody|children|kids|others)(?: else)? (?:at|in|from) (?:\w+ ){0,2}?(?:nursery|school|work|home|class|office|playgroup|house)\b/
/** People around the patient, as those who may have it, too. */
const around =
  /\b(?:your|his|her|their|the|other|any|those) (?:\w+ )?(?:students|colleagues|pupils|classmates|housemates|flatmates|workmates|roommates|teammates|residents|customers|neighbours)\b|\b(?:anyone|anybody|someone|somebody|people|those|everyone) (?:that |who )?(?:you|he|she|they) (?:lives?|works?|shares?|plays?|sits?) (?:\w+ )?with\b|\b(?:husband|wife|partner|boyfriend|girlfriend|kids|children|son|daughter|brother|sister|flatmate)\b.*\b(?:too|as well|also|the same(?: \w+)?)$/
const metIll =
  /\b(?:ill|sick|unwell|poorly|infection|infectious|the same|similar|something like (?:this|that|it)|catching|itchy|itching|spotty|spots|rash(?:es)?|coughing|being sick|vomiting|temperature)\b/

/** What others say, hear or do is about the patient. */
const ofPatient =
  /\b(?:say|says|said|notice[ds]?|hear|heard|hearing|(?:on|about|against|after) you)\b/
/** Least score at which a finding of those around the patient is nearer than an infection: who else itches. */
const sameScore = 0.7
/** Least score at which a finding about relatives is nearer than an infection. */
const minFamilyScore = 0.3

/**
 * The finding of a sentence that asks whether people around the patient have a symptom, too: that somebody is ill;
 * undefined where a finding about relatives is nearer, and for any other sentence.
 */
export function findContact(given: PhrasedSentence): string | undefined {
  const { lexicon, here, found, sentence, similarity, relatives } = given
  const { finding } = lexicon.knowledge
  const { text, inquires } = sentence
  if (!inquires || !finding.has(contactFinding)) return undefined
  if (act.witness.test(text) || /[嫌说听看见][^，]{0,4}你/.test(text)) return undefined
  if (contact.test(text)) return contactFinding
  const isFamily = (id: string | undefined) =>
    id !== undefined && lexicon.familyFindings.has(id) && id !== contactFinding
  if (found.some(({ value }) => isFamily(value.id))) return undefined
  if ((met.test(text) || around.test(text)) && !ofPatient.test(text))
    if (metIll.test(text) || found.some(({ value }) => finding.get(value.id)?.kind === 'symptom'))
      return isFamily(similarity.value) && similarity.score >= sameScore
        ? similarity.value
        : contactFinding
  // What relatives have is a matter of the family, unless they have it now.
  if (!act.others.test(text) || (relatives && !atOnce.test(text))) return undefined
  const zh = languageByScript(text) === 'zh'
  // 小朋友嘴唇红不红 is of the patient, 邻居都在议论你 is of what they do.
  const [about = ''] = act.others.exec(text) ?? []
  const theirs = text.slice(text.indexOf(about) + about.length)
  if (zh && !sick.test(text))
    if (theirs.includes('你') || (about.startsWith('小朋友') && !atOnce.test(text)))
      return undefined
  const ill = here.filter(isFindingMatch).map(({ value }) => finding.get(value.id))
  if (!sick.test(text))
    if (
      !ill.some((one) => one?.kind === 'symptom' && one.attribute === undefined) &&
      !(zh && here.some(({ value }) => value.kind === 'disease'))
    )
      return undefined
  const { value, score } = similarity
  return isFamily(value) && score >= minFamilyScore ? value : contactFinding
}

/** Least lead of a finding about relatives over the other ones. */
const minFamilyLead = 0.1
/** By how much the finding is at least less like the sentence without the illness that it names. */
const minFamilyDrop = 0.1

const isIllness = ({ value }: PhraseMatch<LexiconEntry>): boolean =>
  value.kind === 'finding' || value.kind === 'disease'

/**
 * The finding about relatives that is nearest to a sentence which names an illness the patient may have: "Any diabetes
 * in the family?"; undefined where two are about as near.
 */
export function nearestFamily({
  lexicon,
  here,
  found,
  sentence,
  similarity,
  relatives,
}: PhrasedSentence): string | undefined {
  if (!relatives || !sentence.inquires || found.length > 0) return undefined
  if (!here.some(isIllness)) return undefined
  const [best, next] = [...lexicon.familyFindings]
    .filter((id) => lexicon.knowledge.finding.get(id)?.kind === 'family')
    .map((id) => ({ id, score: similarity.scoreOf(id) }))
    .sort((a, b) => b.score - a.score)
  if (!best || best.score < minFamilyScore) return undefined
  if (best.score - (next?.score ?? 0) < minFamilyLead) return undefined
  // What the words for relatives alone are like says nothing: "Has anyone in the family asthma?" is not about bowels.
  const rest = removeMatches(sentence.text, sentence.start, here.filter(isIllness))
  return lexicon.findSimilar(rest).scoreOf(best.id) < best.score - minFamilyDrop
    ? best.id
    : undefined
}

const partner = /爱人|老公|老婆|丈夫|妻子|老伴|孩子们|你的?孩子|儿子|女儿/

/** Whether a sentence is about the health of somebody other than the patient. */
export const isOfAnother = (text: string): boolean => act.family.test(text) || partner.test(text)

/** English words for anybody but the patient. */
const people =
  /\b(?:any|some|every|no)(?:one|body)\b|\b(?:people|others?|relations?|relatives?|famil\w+|household|neighbou?rs?|friends?|colleagues?|contacts?|partners?|husband|wife|kids?|child(?:ren)?|sons?|daughters?|around you|at home|at work|school|nursery|blood|genes?|genetic|hereditary|inherit\w*|who|else|runs?|they|their|them(?:selves)?|house|(?:house|room|flat)mates?|share|same|died|side|dorm|care home|next bed)\b/

/** Whether a sentence mentions anybody but the patient. */
export const namesPeople = (text: string): boolean =>
  isOfAnother(text) ||
  people.test(text) ||
  /[人谁家祖辈]|接触|传染|同住|同[学事屋桌]|室友|老师|朋友|对象|孩子|宝宝|爹娘|[姨姑舅叔伯][妈父母]|老的小的|共用|一代|一[起块]|周围|身边|邻居/.test(
    text,
  )

const addressed =
  /(?<![你他她的])(?:爸爸|妈妈|爷爷|奶奶|外公|外婆|姥姥|姥爷|大哥|大姐|哥哥|姐姐|弟弟|妹妹)(?=，?(?:你(?!的?(?:爸|妈|爷|奶|家))|[先别慢请来]|这边))/g

/** Whether the words at a place of a text address the listener: "妈妈，您慢慢说". */
export const isAddress = (text: string, start: number, end: number): boolean =>
  [...text.matchAll(addressed)].some(
    ({ index, 0: word }) => index <= start && end <= index + word.length,
  )
