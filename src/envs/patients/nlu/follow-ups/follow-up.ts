/**
 * Follow-up questions: what a question that leaves something out is about. "Any ringing in it?" is read once as it
 * stands, and, where that says too little, as a question about what doctor and patient are talking about: the doctor's
 * last topic first, then what the patient came with, and never what was merely volunteered.
 */
import type { Knowledge } from '../../../../knowledge/knowledge.js'
import type { PatientContext } from '../../../../patient.js'
import { memoizeText } from '../../../../platform/memoize.js'
import { normaliseText } from '../../../../text/phrase-search.js'
import * as act from '../acts.js'
import { findAttributes, isGeneric, isPersonal } from '../attributes.js'
import { removeDisfluencies } from '../disfluency.js'
import { nameByPronoun } from '../english/carers.js'
import { languageByScript } from '../finding-match.js'
import {
  attributeTopic,
  findAncestors,
  followedSymptoms,
  lastAsked,
  lastHistory,
} from '../focus.js'
import type { ParsedUtterance } from '../parsed-utterance.js'
import { plainWords } from '../plain-words.js'
import { anyPain, asideOfRegion, sharedSymptom } from './anywhere.js'
import { confirmed } from './asked-back.js'
import {
  attributeOfGuess,
  attributeOfNamed,
  changeOfTopic,
  looseOfTopic,
  sameAttribute,
  supposes,
} from './attributes.js'
import { hadBefore } from './before.js'
import { ofDenied } from './denied.js'
import {
  aboutTopic,
  asksPain,
  detailOfTopic,
  foreignDetail,
  isMentioned,
  moreOfTold,
  rootOf,
  sameRegion,
} from './findings.js'
import { ofOrgan } from './organs.js'
import {
  asksContent,
  choice,
  type FollowUp,
  goesOn,
  isDoubtful,
  isElliptic,
  isShort,
  isVague,
  type TextReader,
} from './question.js'
import { sameOfRelatives } from './relatives.js'
import { corrected } from './repair.js'
import { moreOfLife } from './sequels.js'
import { ofSpokenTopic } from './spoken-of.js'
import { attributeOfTopic, stillThere } from './topic.js'

/** Asks for whatever else there is. */
const anythingElse =
  /^(?:(?:and|so|ok|okay|right|but) )*(?:(?:what|anything|something|nothing) (?:else|more)|is (?:that|it) (?:all|everything|it)|is there (?:more|anything else)|apart from that|besides that|thats (?:all|it|everything)|go on|carry on|tell me more)$|^(?:那|嗯|好)?(?:还有|别的|其他|其它|另外|除了这(?:个|些))(?:的|没有|吗|么)?呢?$|就(?:这|那)?(?:些|样)(?:了)?(?:吗|么)?$|没别的了/

/** The topic of the base that is the course of the illness. */
const course = 'course'
/** Asks whether it has become better or worse. */
const howIsIt =
  /^(?:(?:and|so|is it|are you|feeling|getting|any|been) )*(?:better|worse|improved|improvement)(?: (?:now|today|at all|since|than before))*$|^(?:现在|这几天|今天|那)?(?:好|轻|重)(?:一?[点些]儿?)?了?(?:没有|没|吗|么)$/

/** Asks how things are, or, of a patient who speaks, about another person. */
const elsewhere = /怎么样|如何/
const another = /\b(?:he|she|him|her|his|hers)\b|他|她/

/** Asks what the patient did, which is no matter of the topic: "What were you celebrating?". */
const ofPatient =
  /^(?:(?:and|so|but) )*(?:what|who|where) (?:were|was|are|did|do) (?:you|he|she) |\b(?:what|who|where) (?:were|was) (?:you|he|she) \w+ing\b/

/** Asks to be told more of it: 能再说详细点吗. */
const inDetail =
  /再(?:说|讲)(?:得)?(?:详细|具体|仔细|清楚)|^(?:能|可以|你)?(?:再)?(?:详细|具体|仔细)(?:地)?(?:一?[点些])?(?:说说?|讲讲?)/

/** Compares what it names with how that was: 和之前腿肿的时候比呢. */
const comparesWithBefore =
  /^(?:那|现在)?(?:和|跟|与|同|比)(?:你)?(?:之前|以前|上次|上回|刚开始|一开始|原来|昨天|前几天|前两天|住院前|治疗前|吃药前|用药前)[^，]{0,10}(?:比|相比|比较|比起来)(?:呢|怎么样|如何|好[点些]?(?:吗|没)?|有什么(?:变化|不同))?$/

/** Offers a choice of directions: 越来越重还是好点了. */
const direction =
  /^(?:那|现在|这几天|今天|是)*(?:越来越[^，]{1,3}|(?:更|加|变)?(?:好|轻|重|厉害|严重)(?:一?[点些]儿?)?)了?(?:，|呢)?还是[^，]{1,8}$/

/** Whether a question is about the course of the illness, which it does not name. */
const asksCourse = (text: string, doubtful: boolean): boolean =>
  comparesWithBefore.test(text) ||
  direction.test(text) ||
  (doubtful && (howIsIt.test(text) || inDetail.test(text)))

/** Asks of relatives how they are, and not whether they have the same. */
const howTheyAre =
  /在世|健在|还在|身体|健康|多大|几[个岁位]|[走没]的|去世|过世|不在|怎么样|都好|还好|年纪|岁数|高寿|做什么/

/** A brief question that goes on about the topic and asks something of it that is not known. */
function unknownOfTopic({ knowledge, context, text, alone, doubtful, followed }: FollowUp) {
  const [guess] = alone.topics
  const content = asksContent.test(text)
  if (!isShort(text) || isPersonal(text) || elsewhere.test(text)) return undefined
  if (context.view.demographics.speaker === 'self' && another.test(text)) return undefined
  if (ofPatient.test(text) && !isGeneric(text)) return undefined
  if (!goesOn(text)) return undefined
  const history = lastHistory(knowledge, context)
  const foreign =
    guess?.guessed &&
    !isMentioned(rootOf(knowledge, guess.finding), { knowledge, context, followed })
  const detail = guess && knowledge.finding.get(guess.finding)?.parent !== undefined
  const reads =
    isVague(alone) ||
    (doubtful && alone.kind === 'aside' && content && history !== undefined) ||
    (foreign && (detail || choice.test(text) || (content && history !== undefined)))
  if (!reads) return undefined
  const of = history ?? followed[0]
  if (of === undefined) return undefined
  const [attribute] = languageByScript(text) === 'zh' ? findAttributes(text) : []
  if (attribute !== undefined && history === undefined)
    return {
      ...alone,
      kind: 'finding' as const,
      topics: [attributeTopic(knowledge, of, attribute)],
      asides: [],
    }
  return {
    ...alone,
    kind: 'unmodelled' as const,
    topics: [],
    asides: [],
    expects: alone.expects ?? 'content',
    of,
  }
}

/** English questions whose words mean another topic after these findings: "Does anyone at home?" after the smoking. */
const afterFinding: readonly (readonly [after: readonly string[], topic: string, form: RegExp])[] =
  [
    [
      ['smoking'],
      'smokers-home',
      /^(?:(?:and|or|what about|how about) )*(?:does |do |is )?(?:anyone|anybody|somebody|others|the others|the rest of the family|people)(?: else)? (?:at home|in the (?:house|home|family)|you live with)(?: (?:smoke|smokes|smoking|do|does))?$/,
    ],
    [
      ['thirst', 'frequent-urination'],
      'water-intake',
      /^(?:(?:and|so) )*how much (?:are|do|have) you (?:been )?(?:drink|drinking)\b(?!.*\b(?:alcohol|beer|wine)\b)/,
    ],
  ]

/** What a question asks after what was asked just before it; undefined for any other. */
function afterTopic({ knowledge, context, text, alone }: FollowUp): ParsedUtterance | undefined {
  const asked = lastAsked(context)
  const topic = afterFinding.find(
    ([after, id, form]) =>
      knowledge.aside.has(id) && after.some((one) => asked.includes(one)) && form.test(text),
  )?.[1]
  if (topic === undefined) return undefined
  return { ...alone, kind: 'aside', topics: [], loose: [], asides: [topic] }
}

/** Reads a question that leaves out what it is about: each reading gives way to the next. */
function ofElliptic(given: FollowUp): ParsedUtterance | undefined {
  return (
    sameOfRelatives(given) ??
    (supposes(given) ? changeOfTopic(given) : undefined) ??
    moreOfTold(given) ??
    attributeOfTopic(given) ??
    detailOfTopic(given) ??
    sameRegion(given) ??
    anyPain(given) ??
    asideOfRegion(given) ??
    sharedSymptom(given) ??
    changeOfTopic(given) ??
    sameAttribute(given) ??
    foreignDetail(given) ??
    unknownOfTopic(given)
  )
}

/** What is asked in other words of what is spoken of: nobody asks back whether it is meant. */
function moreOfFollowed({
  knowledge,
  text,
  alone,
  followed,
}: FollowUp): ParsedUtterance | undefined {
  if (alone.kind !== 'ambiguous' || alone.near === undefined) return undefined
  if (ofPatient.test(text)) return undefined
  const of = [alone.near, ...findAncestors(knowledge, alone.near)].find((id) =>
    followed.includes(id),
  )
  if (of === undefined) return undefined
  const { attribute } = knowledge.finding.get(alone.near) ?? {}
  // "Is that at rest, or when you climb stairs?" asks for the detail that it is like.
  if (of !== alone.near && attribute !== undefined && findAttributes(text).includes(attribute))
    return aboutTopic(alone, { finding: alone.near, of, attribute, guessed: true })
  const { near: _near, ...rest } = alone
  return { ...rest, kind: 'unmodelled', of }
}

/** What a question that leaves something out asks, or one that says too little of what is spoken of. */
function ofFollowed(given: FollowUp): ParsedUtterance | undefined {
  const { reader, text, alone } = given
  const more = moreOfFollowed(given)
  const named = more?.of !== undefined && reader.named(text).includes(more.of)
  return (!named && isElliptic(alone, text) ? ofElliptic(given) : undefined) ?? more
}

/** An utterance in plain words and normal form, an English one without hesitations. */
const plainText = memoizeText(
  (utterance) => {
    const said = languageByScript(utterance) === 'en' ? removeDisfluencies(utterance) : utterance
    return normaliseText(plainWords(said)).text
  },
  { most: 4096, longest: 512 },
)

/** What the doctor says was meant: by a yes to what the patient asked back, or by a correction. */
const meant = (given: FollowUp, said: string): ParsedUtterance | undefined =>
  confirmed(given) ?? corrected(given, said)

/** Understands an utterance with the dialogue before it. A pure function of both. */
export function understandInContext(
  knowledge: Knowledge,
  said: string,
  context: PatientContext,
  reader: TextReader,
): ParsedUtterance {
  const utterance = nameByPronoun(said, context)
  const alone = reader.parse(utterance)
  const text = plainText(utterance)
  if (context.dialogue.length === 0 || reader.isWritten(text)) return alone
  // Several questions that name what they ask go on about nothing.
  if (alone.parts?.every(({ open }) => !open)) return alone
  const doubtful = isDoubtful(alone, alone.kind === 'aside' && reader.namesAside(text))
  if ((doubtful || alone.kind === 'courtesy') && anythingElse.test(text))
    return { ...alone, kind: 'open', topics: [], asides: [] }
  if (knowledge.aside.has(course) && asksCourse(text, doubtful))
    return { ...alone, kind: 'aside', topics: [], loose: [], asides: [course] }
  const followed = followedSymptoms(knowledge, context)
  const given: FollowUp = { knowledge, context, reader, text, alone, doubtful, followed }
  const organ = ofOrgan(given)
  if (organ) return organ
  // What relatives have is no detail of what the patient has.
  const theirs = act.family.test(text) && !act.witness.test(text)
  if (theirs && languageByScript(text) === 'zh' && isElliptic(alone, text)) {
    const asTheyAre = !doubtful && alone.kind === 'aside' && howTheyAre.test(text)
    return asTheyAre ? (moreOfLife(given) ?? alone) : (sameOfRelatives(given) ?? alone)
  }
  const spoken =
    meant(given, said) ??
    afterTopic(given) ??
    hadBefore(given) ??
    ofDenied(given) ??
    (asksPain(text) ? undefined : moreOfLife(given)) ??
    ofSpokenTopic(given) ??
    stillThere(given)
  if (spoken) return spoken
  const attribute = attributeOfNamed(given) ?? looseOfTopic(given) ?? attributeOfGuess(given)
  return attribute ?? ofFollowed(given) ?? alone
}
