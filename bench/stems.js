/**
 * How often a patient begins two sentences alike: the share of turns with a sentence whose first three words (four
 * characters in Chinese) began a sentence of the three turns before, over 200 generated patients of all personas, each asked 15
 * varied questions. Run after `npm run build`: `node bench/stems.js [sentences]` (that many examples of answers).
 */
import { generateCase } from '../dist/exports/cases.js'
import { rulePatient } from '../dist/exports/envs.js'
import { loadKnowledge } from '../dist/exports/knowledge.js'
import { patientView } from '../dist/index.js'

const personas = {
  plain: {},
  ...Object.fromEntries(
    [
      'lowLiteracy',
      'forgetful',
      'confused',
      'distrustful',
      'ashamed',
      'anxious',
      'verbose',
      'terse',
    ]
      .concat(['impatient', 'pleasing', 'selfDiagnosing', 'demanding'])
      .map((dial) => [dial, { [dial]: 3 }]),
  ),
  worriedAndChatty: { anxious: 2, verbose: 2 },
  bluntAndWary: { impatient: 2, distrustful: 2, terse: 1 },
}
const turns = 15
const consultations = 200
const shown = Number(process.argv[2] ?? 0)
const knowledge = loadKnowledge()
const patient = rulePatient({ knowledge })
const known = knowledge.findings.filter(({ knownBy }) => knownBy === 'patient')
const courtesies = {
  en: [
    'Hello, how are you today?',
    'Thank you.',
    'I would like to listen to your chest now.',
    'Anything else?',
    'I am sorry to hear that.',
    'Do you have any questions?',
    "Don't worry, we will look after you.",
    'What do you think it is?',
    'I see.',
  ],
  zh: [
    '您好，哪里不舒服？',
    '谢谢。',
    '我给您听一下胸口。',
    '还有别的不舒服吗？',
    '辛苦您了。',
    '您还有什么想问的吗？',
    '别担心，我们会好好处理的。',
    '您自己觉得是怎么回事？',
    '好的，我知道了。',
  ],
}

const stem = (sentence, language) =>
  language === 'zh'
    ? sentence.replace(/[^\p{L}\p{N}]/gu, '').slice(0, 4)
    : (sentence.toLowerCase().match(/[\p{L}\p{N}'’]+/gu) ?? []).slice(0, 3).join(' ')
const stems = (text, language) =>
  text.split(/[.?!。？！]+/).flatMap((sentence) => stem(sentence, language) || [])

/** Questions of one consultation: most about findings near the complaint, some about the rest of life. */
function questionsOf(truth, n, language) {
  const asides = knowledge.asides.filter(({ text }) => (text?.[language] ?? []).length > 0)
  const own = truth.findings.filter(({ knownBy }) => knownBy === 'patient')
  return Array.from({ length: turns }, (_, t) => {
    const k = (n * 7919 + t * 104729 + n * t * 31) >>> 0
    if (t % 5 === 3) return courtesies[language][k % courtesies[language].length]
    if (t % 5 === 4) {
      const texts = asides[k % asides.length].text[language]
      return texts[k % texts.length]
    }
    const finding =
      k % 3 > 0
        ? (knowledge.finding.get(own[k % own.length]?.id) ?? known[k % known.length])
        : known[k % known.length]
    const texts = finding.ask[language]
    return texts[k % texts.length]
  })
}

for (const language of ['en', 'zh']) {
  const counts = new Map()
  let [repeated, asked, spoken] = [0, 0, 0]
  const names = Object.keys(personas)
  for (let n = 0; n < consultations; n++) {
    const truth = generateCase(knowledge, {
      tier: ['easy', 'standard', 'hard'][n % 3],
      seed: 77,
      n,
    })
    const view = { ...patientView(truth), persona: personas[names[n % names.length]] }
    const dialogue = []
    for (const utterance of questionsOf(truth, n, language)) {
      const reply = await patient(utterance, { view, dialogue: [...dialogue], seed: n, language })
      const before = new Set(dialogue.slice(-3).flatMap((one) => stems(one.reply.text, language)))
      const again = stems(reply.text, language).filter((one) => before.has(one))
      asked++
      if (again.length > 0) repeated++
      for (const one of again) counts.set(one, (counts.get(one) ?? 0) + 1)
      if (spoken < shown && (n * 15 + dialogue.length) % 7 === 0) {
        console.log(
          `${names[n % names.length]} ${truth.demographics.speaker}: ${utterance} -> ${reply.text}`,
        )
        spoken++
      }
      dialogue.push({ utterance, reply })
    }
  }
  const most = [...counts].sort((a, b) => b[1] - a[1]).slice(0, 12)
  console.log(
    `${language}: ${((100 * repeated) / asked).toFixed(1)} % of ${asked} turns begin a sentence like one of the three turns before`,
  )
  console.log(`  most: ${most.map(([text, times]) => `${text} ${times}`).join(' | ')}`)
}
