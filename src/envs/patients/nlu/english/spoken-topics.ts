/**
 * Ways of asking in English that a whole sentence shows and no phrase of it: a medicine by its name, a device at home,
 * whether it was so before, what a medicine did.
 */
import type { Knowledge } from '../../../../knowledge/knowledge.js'
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
const otherwise =
  /\b(?:allerg\w+|react\w*|rash|sensitive|intoleran\w+|mum|dad|mother|father|brother|sister|family|i(?:ll| will| can| would|d)|we(?:ll| will| can| could)?|pregnan\w+)\b/

const reaction =
  /\bwhat (?:happens|happened|does it do|did it do)(?: to you)? (?:when|if|after|with) (?:you|he|she|they) (?:take|takes|took|have|had|has|were given|was given)\b|\bwhat (?:reaction|sort of reaction|kind of reaction|type of reaction)\b|\bhow (?:do|did|does) (?:you|he|she) react\b/

const device =
  /\b(?:thermometer|peak flow(?: meter| machine)?|(?:blood pressure|bp) (?:machine|monitor|cuff)|(?:glucose|sugar) (?:meter|monitor)|oximeter|(?:blood )?sugars|blood pressure|peak flow readings?)\b/
const atHome =
  /\b(?:at home|own (?:a|one)|do you have an?|have you got an?|you keep|do you (?:\w+ )?(?:check|monitor|measure|do|test|take)|when (?:did|was) .{0,20}\blast (?:check|take|measure|test|took|checked|measured|time you)|last time you (?:took|checked|measured|had|did)|(?:whats|what is|what was) (?:your|the) (?:normal |usual |best )?(?:reading|peak flow)|when youre (?:good|well))\b/

const before =
  /\b(?:this|that|these|those|such)(?: (?:kind|sort|type)s? of| same)? (?:a )?(?:\w+ )?(?:pains?|aches?|headaches?|problems?|symptoms?|attacks?|episodes?|rash(?:es)?|feelings?|coughs?|thing|trouble|illness|sensations?)(?: \w+)? (?:ever )?(?:before|in the past|previously)\b|\b(?:anything|something|\w+ache|pain|rash|cough|it) (?:like|similar to) (?:this|that|it)(?: kind of \w+)? (?:ever )?(?:before|in the past|previously)\b|\b(?:problems?|trouble|anything) with (?:your|the|this|that|his|her) \w+ (?:before|in the past|previously)\b|\b(?:gone and come back|come and gone|gone away|come back|happened|been and gone) before\b|\b(?:do|did) (?:you|he|she) (?:often |usually |ever )?get (?:this|it|these|them|that)(?: sort of thing| kind of thing)? (?:a lot|often|regularly|much|every year)$|^(?:(?:and|or|so|but|uh|any) )*(?:any(?:thing)?|something)? ?similar to (?:this|that)\b/

/** Asks of a child whether it is hot to the touch. */
const hotChild =
  /^(?:(?:and|so|is|are|does|has|was|did|been|feeling) )*(?:he|she|it|the (?:baby|child|little one)) (?:(?:feel|felt|been|feeling|at all|very|a bit|really) )*(?:hot|burning up|warm to (?:the )?touch)(?: to (?:the )?touch| at all| now)?$/

/** The finding of those who need antihistamines. */
const allergic = 'allergic-tendency'

const journey =
  /^(?:(?:and|so|ok|now) )*where(?:abouts)?(?: exactly| abroad)? (?:have|had|did) (?:you|he|she|they) (?:been|go|gone|travel\w*|visit|stay)(?: to| on holiday| abroad| then)*$/

/** Asks for a name in other words than that one. */
const called =
  /\bwho(?:s| is| have (?:we|i)| do we have)(?: got)? (?:(?:with )?(?:this|that|here)(?: (?:little|young) \w+)?|the (?:little|young) \w+)(?: here| today| then)?$|\b(?:what|how) (?:\w+ ){1,6}(?:call|address) (?:you|him|her)\b|\bprefer(?:s|red)? to be called\b|\b(?:like|want) (?:me|us) to call (?:you|him|her)\b/

/** Topics by the form of a question, where no word of it is one of theirs alone. */
const forms: readonly (readonly [topic: string, form: RegExp])[] = [
  ['name', called],
  // "Are you grandma?" of whoever brings a child.
  [
    'companion',
    /^(?:(?:hello|hi|and|so|oh|ok) )*are you (?:the |his |her |their |this \w+s )?(?:mum|mom|mummy|mother|dad|daddy|father|gran|granny|grandma|grandmother|grandad|grandpa|grandfather|parents?|aunt|uncle|carer|guardian)$/,
  ],
  [
    'household',
    /\bwho (?:does|do) (?:he|she|you|they) (?:sleep|share (?:a|the) (?:bed|room)) with\b/,
  ],
  [
    'tried',
    /\b(?:did|have|has) (?:you|he|she|they) (?:try|tried|taken|take|done|do|given|give) (?:anything|something)(?: at home| for it| about it| to help| yourself| so far| already)+$|\b(?:put|putting|rub|rubbed|rubbing|smear\w*|dab\w*|appl(?:y|ied|ying)) (?:(?:anything|something|any \w+|\w+) )?(?:on|onto) (?:it|them|that|there)\b|\bwhat have (?:you|he|she) (?:been )?(?:put|putting|rubbed|rubbing|applied|applying)\b|^(?:(?:and|so|ok|right|now) )*what (?:else )?(?:have|did|do) (?:you|he|she|they) (?:been )?(?:try|tried|trying|taken|used|using|done|doing|given|giving)\b.*\b(?:so far|already|up to now|for (?:it|this|that)|about it|to help|to ease it)\b|^(?:(?:and|so|ok|right|now) )*what (?:else )?have you (?:been )?(?:given|giving|tried|trying)(?: (?:him|her|them|on it|yourself))?$/,
  ],
  [
    'concerns',
    /\b(?:anything|something)(?: else)?(?: in particular| particular| that)?(?: (?:youre|you are|youve been|you have been|you|thats|is|on))* (?:worr\w+|concern\w+|afraid|scared|anxious|nervous)\b(?!.*\bother)/,
  ],
  [
    'cause',
    /\b(?:did|has|have|had|was there) (?:anything|something|you do anything)(?: \w+)? (?:set|bring|brought|start|trigger|provoke|cause|spark)\w*(?: (?:it|this|them|that|all this|it all))?(?: off| on)?\b(?! (?:better|when))/,
  ],
]

const howAreYou =
  /^(?:(?:hi|hello|hey|there|so|and|well|morning|good|afternoon|evening|ok|now) )*how are (?:you|things)(?: (?:doing|keeping|getting on|today|this (?:morning|afternoon|evening)|then|both))*$/

/** The topic beyond findings that an English text asks for by its form; undefined for any other text. */
export function topicByForm({ aside }: Knowledge, text: string): string | undefined {
  const form = forms.find(([id, pattern]) => aside.has(id) && pattern.test(text))?.[0]
  if (form !== undefined) return form
  if (device.test(text) && atHome.test(text) && !/\bever\b|\bhigh\b/.test(text))
    return aside.has('home-checks') ? 'home-checks' : undefined
  return aside.has('general-state') && howAreYou.test(text) ? 'general-state' : undefined
}

/** What a sentence means by its form; undefined where no such form fits. */
export function spokenTopic(given: PhrasedSentence): SentenceMeaning | undefined {
  const { lexicon, sentence, found, here, relatives } = given
  const { text, inquires } = sentence
  const { finding } = lexicon.knowledge
  const carer = /\bare you\b/.test(text)
  if (
    !inquires ||
    (relatives && !carer) ||
    !/[a-z]/.test(text) ||
    lexicon.exactQuestion(text) !== undefined
  )
    return undefined
  if (finding.has('drug-allergy') && reaction.test(text))
    return { ...nothing, topics: [attributeTopic(lexicon.knowledge, 'drug-allergy', 'character')] }
  // "Your periods since the implanon", "when did you last take it" ask for what they name.
  const alone = !here.some(isAsideMatch) && found.every(({ value }) => value.id === allergic)
  if (finding.has('regular-medication') && alone && drug.test(text) && taking.test(text))
    if (!otherwise.test(text)) return { ...nothing, topics: [{ finding: 'regular-medication' }] }
  const topic = topicByForm(lexicon.knowledge, text)
  if (topic !== undefined) return { ...nothing, asides: [topic] }
  if (finding.has('fever') && hotChild.test(text))
    return { ...nothing, topics: [{ finding: 'fever' }] }
  if (finding.has('recent-travel') && journey.test(text))
    return { ...nothing, topics: [attributeTopic(lexicon.knowledge, 'recent-travel', 'site')] }
  // "Trouble with your heart before?" is of an illness of old.
  const ofOld = found.some(({ value }) => finding.get(value.id)?.kind === 'antecedent')
  const history = here.some((one) => isAsideMatch(one) && one.value.id.endsWith('-history'))
  if (finding.has('previous-episodes') && !ofOld && !history && before.test(text))
    return { ...nothing, topics: [{ finding: 'previous-episodes' }] }
  return undefined
}
