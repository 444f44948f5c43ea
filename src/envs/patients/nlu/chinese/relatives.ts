/** What a Chinese question about relatives asks of them: an illness by its name, and not only how they are. */
import * as act from '../acts.js'
import { isAsideMatch } from '../asides.js'
import { isFindingMatch, languageByScript, type PhrasedSentence } from '../finding-match.js'

/** The topic of an illness that no finding about relatives is about. */
export const familyIllness = 'family-illness'

/** Words for relatives and of a question about them, which name no illness. */
const frame = new RegExp(
  `${act.family.source}|家里的?|家中|你们家|一家|那边|这边|有没有|有无|没有|是不是|是否|有人|有谁|谁|哪个|什么|得过?|患过?|因为|查出来?|其他|别的|身体|状况|情况|健康|疾病|毛病|问题|类似|同样|一样|家族性?|方面|去世|过世|怎么|特殊|慢性|以前|现在|年轻|或者|还是|[有没得患了这那种都还也在是你他她和跟的吗呢么吧啊不过人病史走好重大老小几位]`,
  'g',
)

/** Asks whether somebody has or had something. */
const has = /得过?|患|有|病|犯|[高低痒疼喘咳好]/

/** Ends like the name of an illness. */
const illness =
  /[病症炎癌瘤石疹风血疼障喘梗塞亢减聋痫瘫痨疮癣疸虚慢高低厚硬]$|过敏|肥胖|肿|中风|结核|瘫|痴呆|出血/

/** Enough of an illness by itself: 家里有人肝不好吗. */
const organ = /[肝肺胃肾脑心]/

/** What a sentence says beside such words, part by part. */
const contentOf = (text: string): readonly string[] =>
  text
    .split(/或者|或是|或|以及|还是|和|跟|、/)
    .map((part) => part.replace(frame, ''))
    .filter((part) => part.length > 1 || organ.test(part))

/** Kinds of findings that are of somebody's health. */
const ofHealth: ReadonlySet<string> = new Set(['symptom', 'antecedent', 'family', 'sign', 'lab'])

/** Least score of the name of an illness at which a finding about relatives is about it; where the sentence is like it, too. */
const minScore = { alone: 0.3, alike: 0.12 } as const

/**
 * The findings about relatives that a Chinese sentence asks for by an illness it names: none where it names another
 * illness; undefined where it names none.
 */
export function illnessesOfRelatives({
  lexicon,
  sentence,
  here,
  found,
  similarity,
  relatives,
}: PhrasedSentence): readonly string[] | undefined {
  const { text, inquires } = sentence
  if (!relatives || !inquires || found.length > 0 || languageByScript(text) === 'en')
    return undefined
  if (!has.test(text) || act.witness.test(text) || lexicon.exactQuestion(text)) return undefined
  const contents = contentOf(text)
  const { aside, finding } = lexicon.knowledge
  const known = here.some(
    (match) =>
      match.value.kind === 'disease' ||
      (isFindingMatch(match) && ofHealth.has(finding.get(match.value.id)?.kind ?? '')) ||
      (isAsideMatch(match) && aside.get(match.value.id)?.denied !== undefined),
  )
  if (contents.length === 0 || !(known || contents.some((part) => illness.test(part))))
    return undefined
  const kin = [...lexicon.familyFindings].filter(
    (id) => lexicon.knowledge.finding.get(id)?.kind === 'family',
  )
  const asked = contents.flatMap((part) => {
    const { scoreOf } = lexicon.findSimilar(part)
    const best = kin.reduce<string | undefined>(
      (a, b) => (a !== undefined && scoreOf(a) >= scoreOf(b) ? a : b),
      undefined,
    )
    const least = similarity.value === best ? minScore.alike : minScore.alone
    return best !== undefined && scoreOf(best) >= least ? [best] : []
  })
  return [...new Set(asked)]
}

/** A husband or wife whose health is asked for, not what they noticed. */
const spouse =
  /(?:爱人|老公|老婆|丈夫|妻子|老伴儿?|对象)(?![^，]{0,8}(?:说|讲|发现|觉得|看见|听见|嫌|抱怨|担心|你))[^，]{0,4}(?:身体|健康|有|得|是不是|怎么样|还好|平时|也)/

/** The topic of how the husband or wife is. */
const spouseHealth = 'partner-health'

/** The topic of a Chinese sentence about the illnesses of a husband or wife; undefined for any other. */
export const healthOfSpouse = ({ lexicon, sentence, here }: PhrasedSentence): string | undefined =>
  sentence.inquires &&
  lexicon.knowledge.aside.has(spouseHealth) &&
  spouse.test(sentence.text) &&
  (/身体|健康|病|毛病/.test(sentence.text) ||
    here.some((match) => match.value.kind === 'disease' || isFindingMatch(match)))
    ? spouseHealth
    : undefined
