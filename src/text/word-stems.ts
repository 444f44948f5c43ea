/**
 * Word stems for text similarity, and language detection.
 *
 * Latin script gives lower-case stems without stop words, with everyday clinical synonyms folded together. Han script
 * gives character bigrams, so no dictionary is needed.
 */
import type { Language } from '../turn.js'

const split = (text: string): string[] => text.trim().split(/\s+/)

const stopWords = new Set(
  split(`
  a an the i you he she it we they me him us them my your his her its our their this that these those is are was
  were be been being am do does did have has had having of to in on at for from with and or but if so as by into
  than then there here not any some all also just very really can could may might will would should shall must
  please hello hi hey hmm mhm mm oh okay ok yes no yeah well thank thanks welcome doctor dr sir madam what which
  who whom whose get got anything something nothing else one other more most much too only own same let make
  right sure see know think tell say said like dear good morning afternoon evening don doesn didn haven hasn isn
  aren wasn weren ve re ll kind sort specific currently now recently usually generally ever still experience
  experiencing experienced feel feeling felt go going goes went happen happening happened occur occurring occurred notice
  noticed`),
)

const hanStops = new Set(
  split('的 了 吗 呢 吧 啊 呀 您 你 我 他 她 它 们 是 有 没 在 也 都 就 很 请 好 这 那 嗯'),
)

/** Synonyms by line; the first word stands for all. */
const folded = new Map(
  `
  stool feces faece poop bowel movement motion defecate defecat toilet bathroom excrement
  abdomen abdominal stomach belly tummy bellyache stomachache gut
  pain painful hurt ache aching sore soreness
  medicine medication drug pill tablet medicat
  exam examination test checkup check-up examin
  start begin began begun onset
  long duration lasting persist
  nausea nauseous nauseat queasy
  vomit threw throw
  food eat ate eaten diet meal eating dietary
  fever feverish temperature
  menses menstrual menstruation period menstruat
  uncomfortable discomfort unwell
  bleed blood bloody bled
  pregnancy pregnant
  bloat bloating bloated distension distend
  constipation constipat
  allergy allergic
  sleep asleep insomnia
  tired fatigue weak weakness
  dizzy dizziness
  diarrhea diarrhoea
  child children baby kid son daughter
  smoke smoker smok cigarette
  alcohol drink drank drunk beer wine liquor
  weight thinner
  symptom sign
  history past previous previously before`
    .trim()
    .split('\n')
    .flatMap((line) => {
      const group = split(line)
      return group.map((word) => [word, group[0] ?? word] as const)
    }),
)

/** Light stemming: removes plural, participle and adverb endings where enough of the word remains. */
function stem(word: string): string {
  if (word.length <= 3) return word
  if (word.endsWith('ies') && word.length > 4) return `${word.slice(0, -3)}y`
  for (const ending of ['ing', 'ed', 'ly'])
    if (word.endsWith(ending) && word.length - ending.length >= 4)
      return word.slice(0, -ending.length)
  if (word.endsWith('s') && !/(?:ss|us|is)$/.test(word)) return word.slice(0, -1)
  return word
}

const fold = (word: string): string => {
  const known = folded.get(word)
  if (known !== undefined) return known
  const stemmed = stem(word)
  return folded.get(stemmed) ?? stemmed
}

function* latinStems(text: string): Generator<string> {
  let before = ''
  for (const [word] of text.matchAll(/[a-z][a-z-]*[a-z]|[a-z]|\d+(?:\.\d+)?/g)) {
    // "How long" and "how many" differ in meaning; "how" and "long" alone mean little.
    if (before === 'how' || before === 'when' || before === 'where') yield `${before} ${fold(word)}`
    before = word
    if (word !== 'how' && !stopWords.has(word)) yield fold(word)
  }
}

function* hanBigrams(text: string): Generator<string> {
  for (const [stretch] of text.matchAll(/\p{Script=Han}+/gu)) {
    const characters = [...stretch].filter((character) => !hanStops.has(character))
    if (characters.length === 1) yield characters[0] ?? ''
    for (let i = 1; i < characters.length; i++) yield `${characters[i - 1]}${characters[i]}`
  }
}

/** Stems of a text in order, with repeats; empty for a text of stop words alone. */
export function wordStems(text: string): string[] {
  const plain = text.normalize('NFKC').toLowerCase().replace(/[’‘]/g, "'").replace(/'s\b/g, '')
  return [...latinStems(plain), ...hanBigrams(plain)]
}

/** Detects a text's language: `zh` when at least 30% of its letters are Han. */
export function detectLanguage(text: string): Language {
  let letters = 0
  let chinese = 0
  for (const [character] of text.matchAll(/\p{L}/gu)) {
    letters++
    if (/\p{Script=Han}/u.test(character)) chinese++
  }
  return letters > 0 && chinese / letters >= 0.3 ? 'zh' : 'en'
}
