/**
 * Ways of asking in English that a whole sentence shows and no phrase of it: a medicine by its name, a device at home,
 * whether it was so before, what a medicine did.
 */
import { isAsideMatch } from '../asides.js'
import type { PhrasedSentence } from '../finding-match.js'
import { attributeTopic } from '../focus.js'
import { nothing, type SentenceMeaning } from '../parsed-utterance.js'

/** Stems of international non-proprietary names (WHO, "The use of stems in the selection of INN"), and household names. */
const drug =
  /\b\w{2,}(?:prils?|sartans?|olols?|statins?|prazoles?|cillins?|mycins?|micins?|floxacins?|cyclines?|triptans?|gliptins?|gliflozins?|formins?|xabans?|parins?|dipines?|azepams?|zolams?|profens?|fenacs?|coxibs?|solones?|sones?|asones?|onides?|terols?|butamols?|tropiums?|lukasts?|thyroxines?|triptylines?|traline|oxetines?|pramines?|zepines?|tidines?|setrons?|conazoles?|ciclovirs?|antoin|oprim|methoprim|idazole|trexate|semides?|thiazides?|lactones?|codeines?|morphines?|gabalins?|gabapentin)\b|\b(?:steroids?|antihistamines?|insulin|digoxin|lithium|ventolin|clenil|symbicort|seretide|gaviscon|piriton|prozac|implanon|iron tablets?)\b/

const taking =
  /\b(?:take|takes|taking|took|taken|on|use|using|used|had|have|given|prescribed|start(?:ed)?|stop(?:ped)?|still|continue)\b/
/** What else a medicine is named for: a reaction, what a relative takes, what will be given. */
const otherwise = /\b(?:allerg\w+|react\w*|rash|sensitive|intoleran\w+|mum|dad|mother|father|brother|sister|family|i(?:ll| will| can| would|d)|we(?:ll| will| can| could)?|pregnan\w+)\b/

const reaction =
  /\bwhat (?:happens|happened|does it do|did it do)(?: to you)? (?:when|if|after|with) (?:you|he|she|they) (?:take|takes|took|have|had|has|were given|was given)\b|\bwhat (?:reaction|sort of reaction|kind of reaction|type of reaction)\b|\bhow (?:do|did|does) (?:you|he|she) react\b/

const device =
  /\b(?:thermometer|peak flow(?: meter| machine)?|(?:blood pressure|bp) (?:machine|monitor|cuff)|(?:glucose|sugar) (?:meter|monitor)|oximeter|(?:blood )?sugars|blood pressure|peak flow readings?)\b/
const atHome =
  /\b(?:at home|own (?:a|one)|do you have an?|have you got an?|you keep|do you (?:\w+ )?(?:check|monitor|measure|do|test|take)|when (?:did|was) .{0,20}\blast (?:check|take|measure|test|took|checked|measured|time you)|last time you (?:took|checked|measured|had|did)|(?:whats|what is|what was) (?:your|the) (?:normal |usual |best )?(?:reading|peak flow)|when youre (?:good|well))\b/

const before =
  /\b(?:this|that|these|those|such)(?: (?:kind|sort|type)s? of| same)? (?:a )?(?:\w+ )?(?:pains?|aches?|headaches?|problems?|symptoms?|attacks?|episodes?|rash(?:es)?|feelings?|coughs?|thing|trouble|illness|sensations?)(?: \w+)? (?:ever )?(?:before|in the past|previously)\b|\b(?:anything|something|\w+ache|pain|rash|cough|it) (?:like|similar to) (?:this|that|it)(?: kind of \w+)? (?:ever )?(?:before|in the past|previously)\b|^(?:(?:and|or|so|but|uh|any) )*(?:any(?:thing)?|something)? ?similar to (?:this|that)\b/

/** The finding of those who need antihistamines. */
const allergic = 'allergic-tendency'

const journey =
  /^(?:(?:and|so|ok|now) )*where(?:abouts)?(?: exactly| abroad)? (?:have|had|did) (?:you|he|she|they) (?:been|go|gone|travel\w*|visit|stay)(?: to| on holiday| abroad| then)*$/

/** Asks for a name in other words than that one. */
const called =
  /\bwho(?:s| is| have (?:we|i)| do we have)(?: got)? (?:(?:with )?(?:this|that|here)(?: (?:little|young) \w+)?|the (?:little|young) \w+)(?: here| today| then)?$|\b(?:what|how) (?:\w+ ){1,6}(?:call|address) (?:you|him|her)\b|\bprefer(?:s|red)? to be called\b|\b(?:like|want) (?:me|us) to call (?:you|him|her)\b/

const howAreYou =
  /^(?:(?:hi|hello|hey|there|so|and|well|morning|good|afternoon|evening|ok|now) )*how are (?:you|things)(?: (?:doing|keeping|getting on|today|this (?:morning|afternoon|evening)|then|both))*$/

/** What a sentence means by its form; undefined where no such form fits. */
export function spokenTopic(given: PhrasedSentence): SentenceMeaning | undefined {
  const { lexicon, sentence, found, here, relatives } = given
  const { text, inquires } = sentence
  const { finding, aside } = lexicon.knowledge
  if (!inquires || relatives || !/[a-z]/.test(text) || lexicon.exactQuestion(text) !== undefined)
    return undefined
  if (finding.has('drug-allergy') && reaction.test(text))
    return { ...nothing, topics: [attributeTopic(lexicon.knowledge, 'drug-allergy', 'character')] }
  // "Your periods since the implanon", "when did you last take it" ask for what they name.
  const alone = !here.some(isAsideMatch) && found.every(({ value }) => value.id === allergic)
  if (finding.has('regular-medication') && alone && drug.test(text) && taking.test(text))
    if (!otherwise.test(text)) return { ...nothing, topics: [{ finding: 'regular-medication' }] }
  if (aside.has('home-checks') && device.test(text) && atHome.test(text))
    if (!/\bever\b|\bhigh\b/.test(text)) return { ...nothing, asides: ['home-checks'] }
  if (aside.has('general-state') && howAreYou.test(text))
    return { ...nothing, asides: ['general-state'] }
  if (aside.has('name') && called.test(text)) return { ...nothing, asides: ['name'] }
  if (finding.has('recent-travel') && journey.test(text))
    return { ...nothing, topics: [attributeTopic(lexicon.knowledge, 'recent-travel', 'site')] }
  if (finding.has('previous-episodes') && before.test(text))
    return { ...nothing, topics: [{ finding: 'previous-episodes' }] }
  return undefined
}
