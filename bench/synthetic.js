/** A knowledge base of a given size without any medicine in it, for measuring how long things take. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { loadKnowledge } from '../dist/exports/knowledge.js'
import { pick, uniform } from '../dist/index.js'

const syllables = ['ba', 'do', 'ki', 'lu', 'me', 'na', 'po', 'ra', 'si', 'tu']
const word = (n) => [...String(n).padStart(3, '0')].map((digit) => syllables[digit]).join('')
const both = (text) => ({ zh: text, en: text })
const lists = (...texts) => ({ zh: texts, en: texts })

/** Three in four known to the patient, every fifth hanging from the one before it. */
function finding(n) {
  const name = `f${word(n)}`
  const exam = n % 4 === 3
  const child = !exam && n % 5 === 1
  return {
    id: `finding-${n}`,
    type: 'bool',
    kind: exam ? 'lab' : 'symptom',
    knownBy: exam ? 'exam' : 'patient',
    salience: exam || child ? 0 : 0.2 + 0.8 * uniform(1, 'salience', n),
    stigma: 0,
    leak: 0.01 + 0.05 * uniform(1, 'leak', n),
    name: both(name),
    aliases: lists(name),
    ask: lists(`Any ${name}?`),
    say: {
      present: lists(`Yes, ${name}.`),
      absent: lists(`No ${name}.`),
      ...(exam ? {} : { unknown: lists(`About ${name} I am not sure.`) }),
    },
    ...(child ? { parent: { finding: `finding-${n - 1}`, when: 'present' } } : {}),
  }
}

const chances = ['always', 'usually', 'often', 'sometimes', 'rare']

function disease(n, findings) {
  const name = `d${word(n)}`
  const listed = Array.from({ length: 14 }, (_, k) => pick(findings, 1, 'edge', n, k).id)
  return {
    id: `disease-${n}`,
    name: both(name),
    aliases: lists(name),
    codes: [{ system: 'icd10', code: `Z${String(n).padStart(2, '0')}` }],
    severity: 3,
    triage: 3,
    prior: { base: 0.2 + uniform(1, 'prior', n) },
    recommend: ['rest'],
    findings: Object.fromEntries(
      [...new Set(listed)].map((id, k) => [id, pick(chances, 1, 'chance', n, k)]),
    ),
  }
}

const exam = (n, yields) => ({
  id: `exam-${n}`,
  name: both(`e${word(n)}`),
  aliases: lists(`e${word(n)}`),
  cost: 10 + 10 * (n % 9),
  minutes: 20,
  invasiveness: 0,
  yields: yields.map(({ id }) => id),
})

/** The knowledge base; exams show one to four of the findings that patients do not know. */
export function syntheticKnowledge(diseases, findings, exams) {
  const all = Array.from({ length: findings }, (_, n) => finding(n))
  const hidden = all.filter(({ knownBy }) => knownBy === 'exam')
  const file = {
    knowledge: 'bedside-knowledge/1',
    group: { id: 'all', name: both('All') },
    findings: all,
    diseases: Array.from({ length: diseases }, (_, n) => disease(n, all)),
    exams: Array.from({ length: exams }, (_, n) =>
      exam(n, hidden.slice((n * 7) % (hidden.length - 4)).slice(0, 1 + (n % 4))),
    ),
    actions: [{ id: 'rest', text: both('Rest') }],
  }
  const folder = mkdtempSync(join(tmpdir(), 'bedside-synthetic-'))
  try {
    writeFileSync(join(folder, 'all.json'), JSON.stringify(file))
    return loadKnowledge(folder)
  } finally {
    rmSync(folder, { recursive: true })
  }
}
