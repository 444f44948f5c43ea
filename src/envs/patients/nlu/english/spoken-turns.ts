/**
 * Spoken English turns are long: "OK, so you said it hurts, that's a nuisance, is it worse at night, would you say?". What
 * leads up to the question is told from what the question is about, and advice with a tag from a question.
 */

const lead = `^(?:(?:and|but|also|so|then|now|ok|okay|well|right|yeah|yes|no|alright|great|fine|good|lovely|oh|just|sure|sorry|because|cause|since|as) ){0,4}`

const said = new RegExp(
  `${lead}(?:you|youve|youre|youd|i|im|ive|id|ill|we|weve|were|well|it|its|that|thats|this|he|hes|she|shes|they|theyre|there|theres|sometimes|some people|people)\\b`,
)

/** Whether a clause before a question only tells: "you said it hurts, …" but not "with the pain, …". */
export const leadsUp = (clause: string): boolean => said.test(clause)

const introduced = new RegExp(
  `${lead}(?:so that (?:i|we)\\b|if (?:ive|i have|weve|i) (?:got|understood|understand|heard)|if im right|let me (?:just )?(?:check|recap|summari[sz]e|make sure|get this)|to (?:recap|summari[sz]e|confirm|sum up|clarify|be clear)|am i right(?: in (?:thinking|saying))?|correct me if)\\b`,
)

/** Whether a clause only introduces a check: "if I've got this straight, …". */
export const introduces = (clause: string): boolean => introduced.test(clause)

const aside = new RegExp(
  [
    `${lead}(?:leaving|setting|putting|leave|set|put|forget|forgetting|never mind|ignore|ignoring|instead of|rather than|as opposed to) (?:about )?(?:the|your|that|this|any|all|aside|a|being|feeling)\\b`,
    `${lead}(?:(?:im|i am) not (?:asking|talking|thinking)|i (?:dont|didnt|do not|did not) mean|(?:its|it is|thats|that is) not (?:the|your|that|so much)|not (?:the|your)|not \\w+(?: \\w+)? (?:as such|exactly|so much))\\b`,
    ' (?:aside|to one side|to the side)$',
  ].join('|'),
)

/** Whether a clause before a question names what is not asked for: "Leaving the cough aside, …", "Not the chest pain, …". */
export const putsAside = (clause: string): boolean => aside.test(clause)

const number = String.raw`(?:a|an|one|two|three|four|five|six|seven|eight|nine|ten|twelve|couple|few|\d+)`
const time = `(?:(?:minute|hour|day|night|week|weekend|fortnight|month|year)s?|yesterday|today|tonight|(?:this )?(?:morning|evening|afternoon)|last night|(?:mon|tues|wednes|thurs|fri|satur|sun)day)`
const duration = new RegExp(
  [
    `${lead}(?:(?:is|was|has|have) )?(?:that|this|it|thats|its|they|theyve)(?: (?:is|was|has|have))?(?: (?:just|only|really|mainly|been|going|on|there|started?|start|began|begun|came|happening|with|you|like|happened|first))* ?(?:(?:about|around|roughly|for|since|over|in|on|within|from|the|last|past|before|or|so|of|${number}|now|ago|that|earlier) )*${time}(?: (?:or|so|two|three|now|ago|then|before|the|and|${time}|last|did|has|have|it|that|was|been))*$`,
    `${lead}(?:that|this|thats|it)(?: (?:is|was))? when (?:it|this|that|they|everything) (?:first |all )?(?:started|began|came on)$`,
    `${lead}(?:since when|how long|when) (?:has|have|did|is|was) (?:he|she|you|they|it|(?:your|the|his|her) \\w+)(?: first| all| actually)*(?: (?:been|get|got|become|fall|fallen|taken|feel|felt|feeling|start|started))+ (?:ill|sick|unwell|hot|poorly|feverish|like this|this way|bad|off colour)$`,
    `\\b(?:before|until|up to|prior to) (?:all (?:of )?)?(?:this|that|it|then|now|yesterday)(?: (?:all )?(?:started|began|happened|came on))?(?: all (?:of )?this)? (?:you )?(?:had |have )?(?:(?:were|was|been|felt|feeling|feel) )?(?:you )?(?:(?:been|feeling|completely|perfectly|absolutely|quite|all|totally|otherwise|generally|fit and) )*(?:fine|well|ok|okay|right|alright|healthy|good|yourself)(?: in yourself)?(?: (?:were|was|had) you)?$`,
    `^(?:(?:and|so|but|ok) )*(?:were you|you were|had you been|youd been) (?:(?:completely|perfectly|absolutely|quite|all|totally|feeling|otherwise|generally) )*(?:fine|well|ok|okay|right|alright|healthy) (?:in yourself )?(?:before|until|up to) (?:this|that|it|then|now|all this)(?: (?:started|began|happened))?$`,
    `^(?:(?:and|so|but|ok) )*(?:can you tell me )?when did you last feel (?:completely |perfectly )?(?:well|fine|ok|okay|normal|right|yourself|like yourself)$|^(?:(?:and|so|but|ok) )*(?:can you tell me )?when (?:were you last|you last felt|was the last time you (?:felt|were)) (?:completely |perfectly )?(?:well|fine|ok|okay|normal|right|yourself)$`,
  ].join('|'),
)

/** Nothing but stretches of time, offered to choose from: "since yesterday, a few days, a week?". */
const stretches = new RegExp(
  `^(?:(?:and|so|is|was|has|have|it|that|this|been|going|on|are|we|you|talking|thinking|did|start|started|since|for|about|around|roughly|just|only|more|like|over|under|than|or|to|maybe|perhaps|a|the|last|past|few|couple|of|some|matter|question|${number}) )*${time}(?:(?:,| or| and| maybe| perhaps)* (?:(?:more|like|since|for|about|around|just|only|a|the|last|past|few|couple|of|some|rather|than|longer|${number}) )*(?:${time}|longer|more))+(?: (?:ago|now|then|already|or so))*$`,
)

/** Whether a text only checks how long it has been: "Is that just over the last six days?", "It started on Monday?". */
export const checksDuration = (text: string): boolean => duration.test(text) || stretches.test(text)

const agreementTag =
  /^(?:ok|okay|alright|all right|(?:is|would) (?:that|it) (?:be )?(?:ok|okay|alright|all right|fine|good)(?: (?:with|for|by) you)?|if (?:thats|that is|its) (?:ok|okay|alright|all right|fine)(?: (?:with|for|by) you)?|does that (?:sound|make) (?:\w+ )?(?:ok|okay|alright|all right|good|sense|fine|reasonable))$/
/** Tags that check a fact as often as they seek agreement. */
const doubtfulTag = /^(?:right|yeah|yes)$/
/** What doctors plan or advise. */
const plan =
  /\b(?:should|shouldnt|must|lets|recommend\w*|advise|suggest|prescribe|make sure|try to|id like|like you to|want you to|going to|gonna|(?:i|we) (?:\w+ )?(?:will|need|can|could|may|might|would|want)|(?:ill|wed|id|itll)|(?:^|and |so )well \w+|well (?:check|do|see|get|take|start|give|make|send|arrange|call|put|look))\b/
/** What they explain, too. */
const explained =
  /\b(?:you (?:\w+ )?(?:need|must|can|could|would|will|might|may|want)|youll|because|usually|means?|important|(?:if|thats) (?:what|why|something))\b/
const instruction =
  /^(?:(?:and|but|also|so|then|now|ok|okay|well|right|just|please|or|always|alright) ){0,4}(?:drink|eat|take|keep|make|try|avoid|use|call|ring|come|go|let|stay|rest|stop|start|dont|do not|give|put|get|have a|bear|hold|remember|stick|see|be|look|follow|continue|carry on)\b/

/**
 * Whether a sentence ends in a tag that only seeks agreement to a plan, an advice or an explanation: "Drink plenty, OK?".
 * "You have a cough, yeah?" checks a fact instead.
 */
export function seeksAgreement(clauses: readonly string[]): boolean {
  const tag = clauses.at(-1)
  const body = clauses.slice(0, -1)
  if (tag === undefined || body.length === 0) return false
  const plans = (one: string): boolean => plan.test(one) || instruction.test(one)
  if (doubtfulTag.test(tag)) return body.some(plans)
  return agreementTag.test(tag) && body.some((one) => plans(one) || explained.test(one))
}

const subordinate =
  /^(?:(?:and|but|so|then|or|certainly|also|because|um|ok|okay|well) ){0,4}(?:when|whenever|if|once|where|which|who|how)\b(?! (?:do|did|does|is it|is the|are you|are they|was|were you|have you|has|can you|will you|would you|one|of|side|ones|long|often|much|many|bad)\b)/
const certainly = /^(?:(?:and|but|then|so) )*certainly /

/**
 * Whether the clauses of a sentence without a question mark plan or advise, and ask nothing: "When you come, we'll check
 * your blood pressure", "avoid milk, which might make it worse".
 * @param wonders whether a clause begins like a question
 */
export function onlyPlans(
  clauses: readonly string[],
  wonders: (clause: string) => boolean,
): boolean {
  const plans = clauses.some((one) => {
    const said = one.replace(certainly, '')
    return plan.test(said) || instruction.test(said) || explained.test(said)
  })
  return plans && clauses.every((one) => !wonders(one) || subordinate.test(one))
}

const changing =
  /\b(?:ma(?:ke|kes|king|de)|bring(?:s|ing)?|brought|sets?|help(?:s|ed)?|ease[sd]?)\b.{0,40}\b(better|worse|easier|on|off)\b|\b(better|worse|easier) (?:when|if|with|after|by|lying|sitting|standing|first thing|at night)\b/
/** Asks whether what was spoken of is there at some occasion: "does it hurt more when you cough?", "is it sore if you press it?". */
const atOccasion =
  /\b(?:is|are|does|do|did|was) (?:it|that|this|they|the pain) (?:\w+ ){0,2}?(?:hurt|ache|sting|burn|throb|catch|painful|sore|tender|worse|come on|start|happen)(?: \w+){0,2}? (?:when|if|after) (?=you\b|he\b|she\b|i\b|we\b|any|some|it\b|\w+ing\b)/

/** What a question about better and worse asks for, and where its circumstances begin: "Is it worse when …?". */
export function whatChanges(text: string): {
  readonly attributes: readonly ('aggravating' | 'relieving')[]
  readonly from: number
  /** Whether it only asks if it is there at an occasion. */
  readonly occasion?: true
} {
  const match = changing.exec(text)
  const occasion = match ? null : atOccasion.exec(text)
  if (occasion)
    return {
      attributes: ['aggravating'],
      from: occasion.index + occasion[0].length,
      occasion: true,
    }
  if (!match) return { attributes: [], from: text.length }
  const [found, made, when] = match
  const from = match.index + (when === undefined ? 0 : found.length)
  if (/\bbetter or worse\b|\bworse or better\b/.test(text))
    return { attributes: ['aggravating', 'relieving'], from }
  const better = /better|easier/.test(made ?? when ?? '')
  return { attributes: [better ? 'relieving' : 'aggravating'], from }
}

const treating =
  /\b(?:taken?|taking|tried|try|trying|used?|using|had|having|done|doing|anything|something|medicines?|medications?|tablets?|treatments?|cream|remed(?:y|ies)|given|prescribed|bought|buy)\b.{0,30}? for (?=(?:the|your|this|that|his|her|it|these|those)\b)/

/** Where the complaint begins that a question about its treatment names: "What have you taken for your headache?". */
export function treatedFrom(text: string): number | undefined {
  const match = treating.exec(text)
  return match ? match.index + match[0].length : undefined
}
