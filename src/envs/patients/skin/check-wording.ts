/**
 * Checks a model's wording against the facts it stands for: all of them, nothing beside them, none turned round, no
 * diagnosis. What a reply may say is a closed list: words of talk, and the words in which the knowledge base says
 * these facts. A word that is on neither is refused, so that what nobody thought of is refused too.
 *
 * Long because it is one list of checks that share what is allowed.
 */
import type { Knowledge } from '../../../knowledge/knowledge.js'
import { findPhrases, normaliseText } from '../../../text/phrase-search.js'
import type { Language, RevealedFinding } from '../../../turn.js'
import { caregiverSentences, stockSentences } from '../nlg/stock-sentences.js'
import { getLexicons } from '../nlu/lexicon.js'
import { type Clause, readClauses } from '../statements/clauses.js'
import { findDiseaseNames } from '../statements/disease-names.js'
import {
  closeness,
  contraryReferences,
  likeness,
  type Reference,
  referencesIn,
  referencesOf,
  saysRather,
} from '../statements/references.js'

/** What a model is to put into words. */
export interface Commission {
  /** The doctor's words. */
  readonly utterance: string
  /** The sentences that must be said, without the persona's manner. */
  readonly core: string
  /** The rule patient's reply, manner and all. */
  readonly template: string
  readonly told: readonly RevealedFinding[]
  readonly asked: readonly string[]
  readonly language: Language
  /** Whether the patient speaks of themselves. */
  readonly self: boolean
}

/** Least likeness of a clause to what it may say, for it to say that at all. */
const minLikeness = 0.3
/** Least likeness of a clause to a fact, for it to tell the fact. */
const minWitness = 0.6
/** Least share of a clause, and of a fact, that the two have in common, for it to tell the fact. */
const minCloseness = 0.4

/** Characters that may be said beside three times the template. */
const moreCharacters = { en: 200, zh: 80 } as const

const label =
  /^\s*(?:patient|doctor|assistant|user|system|caregiver|interpreter|me|患者|病人|病患|医生|大夫|家属|助手|用户|系统|我)\s*[:：]/im
const markup = /[<>{}[\]|*_#`~\\^=]|https?:|\/\//
const machine =
  /\b(?:as an ai|language model|ai model|chatbot|assistant|instruction|instructions|prompt|role-?play|simulat\w*|in character|persona|reworded?|rephrased?|paraphras\w*|json)\b|扮演|指令|提示词|人工智能|语言模型|角色|模拟|改写|复述|系统/i
const hidden = /[\p{Cf}\p{Co}\p{Cn}]|[^\P{Cc}\n]/u

/** A detail that varies within the words for one fact: who, how many. It must be the patient's own. */
const detail =
  /^(?:\d|(?:two|three|four|five|six|seven|eight|nine|ten|twelve|dozen|twenty|thirty|forty|fifty|hundred|mother|father|mum|dad|sister|brother|aunt|uncle|grandmother|grandfather|wife|husband|son|daughter)$|[三五六七八九十百妈爸爷奶姐妹哥弟姑姨叔舅]$)/

/** Words for times. */
const time = /^(?:night|morn|even|afternoon|day|week|month|year|hour|minut|ag|sinc|[夜晚早午月年])$/

/** Words for the person a carer or interpreter speaks for. */
const carersWords = new Set(
  'son daughter child kid boy girl baby little mum mother father dad husband wife patient 娃 儿 女 闺 宝 小 家 病 人'.split(
    ' ',
  ),
)

/** What is wrong with the form of a wording, whatever it says. */
function formProblem(wording: string, { template, language }: Commission): string | undefined {
  if (wording.trim() === '') return 'says nothing'
  if (wording.length > 3 * template.length + moreCharacters[language]) return 'is too long'
  if (hidden.test(wording)) return 'has characters that cannot be read'
  if (label.test(wording)) return 'has the label of a speaker'
  if (markup.test(wording)) return 'has marks that nobody speaks'
  if (machine.test(wording) && !machine.test(template)) return 'speaks of its task'
  const foreign = language === 'zh' ? /\p{Script=Latin}+/gu : /[^\P{L}a-zA-Z]+/gu
  const strange = (wording.match(foreign) ?? []).find((word) => !template.includes(word))
  return strange === undefined ? undefined : `says \`${strange}\`, which is another language`
}

/** All that a reply may say. */
interface Allowed {
  readonly facts: readonly {
    readonly told: RevealedFinding
    readonly own: readonly Reference[]
    readonly contrary: readonly Reference[]
  }[]
  /** Clauses of the rule patient's own reply, and of sentences that are said in place of each other. */
  readonly spoken: readonly Reference[]
  readonly tokens: ReadonlySet<string>
  readonly clauses: readonly Clause[]
}

/** The stock sentences that mean the same as one of the text. */
function likeStock(text: string, language: Language): readonly string[] {
  const banks = [stockSentences, caregiverSentences].flatMap((all) => Object.values(all))
  return banks
    .map((bank) => bank[language])
    .filter((bank) => bank.some((sentence) => text.includes(sentence.replace(/[.。]$/, ''))))
    .flat()
}

function allowedBy(knowledge: Knowledge, commission: Commission): Allowed {
  const { core, template, told, language, utterance } = commission
  const facts = told.map((one) => ({
    told: one,
    own: referencesOf(knowledge, one, language),
    contrary: contraryReferences(knowledge, one, language),
  }))
  const clauses = readClauses(`${template}\n${core}`, language)
  const spoken = [
    ...referencesIn([core, template], language),
    ...referencesIn(likeStock(core, language), language),
  ]
  const said = new Set(clauses.flatMap(({ tokens }) => [...tokens]))
  const heard = new Set(readClauses(utterance, language).flatMap(({ tokens }) => [...tokens]))
  // A name may hold a time that is not the patient's: "a cough at night".
  const fromBase = [...facts.flatMap(({ own }) => own), ...spoken].flatMap(({ tokens, named }) =>
    [...tokens].filter((token) => !(named && time.test(token))),
  )
  const tokens = new Set(
    fromBase.filter((token) => !detail.test(token) || said.has(token) || heard.has(token)),
  )
  for (const token of said) tokens.add(token)
  if (!commission.self) for (const word of carersWords) tokens.add(word)
  return { facts, spoken, tokens, clauses }
}

const sameTokens = (a: ReadonlySet<string>, b: ReadonlySet<string>): boolean =>
  a.size === b.size && [...a].every((token) => b.has(token))

/** Whether the rule patient's own reply has this clause. */
const isSpoken = (clause: Clause, { clauses }: Allowed): boolean =>
  clauses.some(
    ({ tokens, stance, asks, third, text }) =>
      (tokens.size > 0 || text === clause.text) &&
      stance === clause.stance &&
      asks === clause.asks &&
      third === clause.third &&
      sameTokens(tokens, clause.tokens),
  )

const isPresent = ({ state }: RevealedFinding): boolean => state !== 'absent' && state !== 'unknown'
const isAbsent = ({ state }: RevealedFinding): boolean => state === 'absent'

/** Whether a doctor's words suggest a no, so that a yes may agree with it: "No fever, then?" */
const suggestsNo = (utterance: string, language: Language): boolean =>
  language === 'en'
    ? /\b(?:no|not|never|nobody|none)\b|n['’]t\b/i.test(utterance)
    : /[没不别未].*(?:吧|对吗|是吗|对不对|是不是|对吧)[？?]?\s*$/.test(utterance)

/** What a bare yes or no gets wrong; of several facts, it belongs to the one that the next clause tells, or the clause before in the same sentence. */
function bareProblem(
  { bare, sentence }: Clause,
  [before, after]: readonly [Clause | undefined, Clause | undefined],
  { told, utterance, language }: Commission,
  { clauses, facts }: Allowed,
): string | undefined {
  const wrong = `says ${bare} where the answer is another`
  if (told.length === 0) return clauses.some((clause) => clause.bare === bare) ? undefined : wrong
  const fits = bare === 'yes' ? isPresent : isAbsent
  if (told.every(fits)) return undefined
  if (told.length === 1) return suggestsNo(utterance, language) ? undefined : wrong
  const fitting = facts.filter((fact) => fits(fact.told))
  const tells = (one: Clause | undefined): boolean =>
    one !== undefined && fitting.some(({ own }) => likeness(one, own) >= minWitness)
  return tells(after) || (before?.sentence === sentence && tells(before)) ? undefined : wrong
}

/** What is wrong with a clause that speaks of something. */
function contentProblem(clause: Clause, allowed: Allowed): string | undefined {
  const { facts, spoken } = allowed
  const may = [...spoken, ...facts.flatMap(({ own }) => own)]
  // One character is part of many words.
  const least =
    clause.tokens.size === 1 && !/^\w/.test([...clause.tokens].join()) ? minWitness : minLikeness
  const near = closeness(clause, may)
  if (near < least) return 'says something else, or turns it round'
  const mayNot = facts.flatMap(({ contrary }) => contrary)
  if (saysRather(clause, may, mayNot)) return undefined
  // What one fact denies, as vomiting, may be near what another says, as nausea.
  const own = facts.some(
    (fact) => closeness(clause, fact.own) === near && saysRather(clause, fact.own, fact.contrary),
  )
  return own && near === 1 ? undefined : 'says the contrary of a fact'
}

function clauseProblem(
  clause: Clause,
  beside: readonly [Clause | undefined, Clause | undefined],
  commission: Commission,
  allowed: Allowed,
  heard: ReadonlySet<string>,
): string | undefined {
  if (!clause.bare && isSpoken(clause, allowed)) return undefined
  const { tokens, asks, unsure, hedged, bare, third } = clause
  const repeats = asks || unsure
  const strange = [...tokens].find(
    (token) => !allowed.tokens.has(token) && !(repeats && heard.has(token)),
  )
  if (strange !== undefined) return `adds \`${strange}\``
  if (asks) return undefined
  if (clause.vague) return 'says something beside it'
  if (third && commission.self && !allowed.clauses.some((one) => one.third))
    return 'speaks of somebody else'
  if (unsure) {
    const may =
      commission.told.some(({ state }) => state === 'unknown') ||
      allowed.clauses.some((one) => one.unsure)
    return may ? undefined : 'says not to know what is known'
  }
  if (hedged && !allowed.clauses.some((one) => one.hedged)) return 'doubts what is certain'
  if (bare) return bareProblem(clause, beside, commission, allowed)
  return tokens.size === 0 ? undefined : contentProblem(clause, allowed)
}

/** Two neighbouring clauses read as one: "My throat, it really hurts." */
function joined(a: Clause, b: Clause): Clause | undefined {
  if (a.stance !== b.stance && a.stance !== 'said' && b.stance !== 'said') return undefined
  const stance = a.stance === 'said' ? b.stance : a.stance
  return { ...a, tokens: new Set([...a.tokens, ...b.tokens]), stance }
}

/** Whether an answer of one word tells all the facts. */
function tellsBarely(
  clauses: readonly Clause[],
  { told, asked, utterance, language }: Commission,
): boolean {
  const [first] = told
  if (!first || !told.every(({ state }) => state === first.state)) return false
  if (suggestsNo(utterance, language)) return false
  const wanted = first.state === 'present' ? 'yes' : first.state === 'absent' ? 'no' : undefined
  const ids = new Set(told.map(({ finding }) => finding))
  if (asked.length === 0 || ids.size !== asked.length || !asked.every((id) => ids.has(id)))
    return false
  // "No, no drug allergy" to a question for two things tells one of them.
  if (told.length > 1 && clauses.some(({ tokens, asks }) => tokens.size > 0 && !asks)) return false
  return wanted !== undefined && clauses.some(({ bare, asks }) => !asks && bare === wanted)
}

/** The first fact or sentence that a wording leaves out. */
// Long because facts, and sentences that stand for none, are looked for in the same readings.
function missing(
  clauses: readonly Clause[],
  commission: Commission,
  { facts, spoken }: Allowed,
): string | undefined {
  const { core, language } = commission
  const stated = clauses.filter(({ asks, hedged, unsure }) => !asks && !hedged && !unsure)
  const pairs = stated.flatMap((clause, c) => {
    const next = stated[c + 1]
    return next ? (joined(clause, next) ?? []) : []
  })
  const readings = [...stated, ...pairs]
  const unsure = clauses.some((clause) => clause.unsure)
  const coreClauses = readClauses(core, language)
  /** Clauses of the core that say none of the facts in the base's words: a gate's sentence, an aside. */
  const others = coreClauses.filter(
    (clause) =>
      clause.tokens.size > 0 &&
      !clause.asks &&
      !facts.some(({ own }) => likeness(clause, own) >= minWitness),
  )
  const says = (references: readonly Reference[], contrary: readonly Reference[]): boolean =>
    readings.some(
      (clause) =>
        likeness(clause, references) >= minWitness &&
        closeness(clause, references) >= minCloseness &&
        saysRather(clause, references, contrary),
    )
  const barely = tellsBarely(clauses, commission)
  for (const { told, own, contrary } of facts) {
    const authored = coreClauses.some((clause) => likeness(clause, own) >= minWitness)
    const ways = authored ? own : [...own, ...others]
    if (told.state === 'unknown' ? unsure : barely || says(ways, contrary)) continue
    return `leaves out that ${told.finding} is ${told.state}`
  }
  if (facts.length > 0) return undefined
  // Of what no fact stands for, each sentence, or one that is said in its place.
  const stock = referencesIn(likeStock(core, language), language)
  const kept =
    // Nothing but manner: "That's all I have noticed."
    coreClauses.every(({ tokens, bare, unsure: no }) => tokens.size === 0 && !bare && !no) ||
    (coreClauses.some((one) => one.unsure) && unsure) ||
    coreClauses.some(({ bare }) => bare && clauses.some((one) => one.bare === bare)) ||
    clauses.some((clause) => isEcho(clause, coreClauses)) ||
    says(stock, []) ||
    (others.length > 0 && others.every((one) => says([one], [])))
  return kept || spoken.length === 0 ? undefined : 'leaves out what was to be said'
}

const isEcho = (clause: Clause, core: readonly Clause[]): boolean =>
  clause.tokens.size > 0 &&
  core.some(({ tokens, asks }) => asks === clause.asks && sameTokens(tokens, clause.tokens))

/** The findings that a text names. */
const namedFindings = (knowledge: Knowledge, text: string): readonly string[] => {
  const lexicon = getLexicons(knowledge).atOnce
  const read = normaliseText(text)
  return findPhrases(lexicon.tree(read.text), read).flatMap(({ value }) =>
    value.kind === 'finding' ? [value.id] : [],
  )
}

/** The words in which the knowledge base says the facts. */
const authoredWords = (knowledge: Knowledge, { told, language }: Commission): string =>
  told
    .flatMap(({ finding, state }) => knowledge.finding.get(finding)?.say[state]?.[language] ?? [])
    .join('\n')

/** What a wording names that it was not given: a disease, or another finding. */
function namingProblem(
  knowledge: Knowledge,
  wording: string,
  commission: Commission,
): string | undefined {
  const { template, core, told } = commission
  const given = `${template}\n${core}\n${authoredWords(knowledge, commission)}`
  const diseases = findDiseaseNames(knowledge, wording)
  if (diseases.length > 0) {
    const known = new Set(findDiseaseNames(knowledge, given))
    const disease = diseases.find((name) => !known.has(name))
    if (disease !== undefined) return `names \`${disease}\``
  }
  const ids = new Set([...told.map(({ finding }) => finding), ...namedFindings(knowledge, given)])
  const other = namedFindings(knowledge, wording).find((id) => !ids.has(id))
  return other === undefined ? undefined : `names ${other}`
}

const plain = (text: string): string => text.replace(/\s+/g, ' ').trim()

/** What is wrong with a wording, in a few words; undefined where nothing is. */
export function wordingProblem(
  knowledge: Knowledge,
  wording: string,
  commission: Commission,
): string | undefined {
  const { template, core, language, utterance } = commission
  if ([template, core].some((own) => plain(own) === plain(wording) && own !== '')) return undefined
  const form = formProblem(wording, commission)
  if (form !== undefined) return form
  const allowed = allowedBy(knowledge, commission)
  const clauses = readClauses(wording, language)
  const heard = new Set(readClauses(utterance, language).flatMap(({ tokens }) => [...tokens]))
  for (const [c, clause] of clauses.entries()) {
    const problem = clauseProblem(
      clause,
      [clauses[c - 1], clauses[c + 1]],
      commission,
      allowed,
      heard,
    )
    if (problem !== undefined) return problem
  }
  return namingProblem(knowledge, wording, commission) ?? missing(clauses, commission, allowed)
}
