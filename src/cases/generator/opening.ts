/** Opening of a consultation: who speaks for the patient, and the words of the chief complaint. */
import type { Case } from '../../case.js'
import type { FindingDefinition } from '../../knowledge/knowledge.js'
import type { PersonaSpread } from '../../persona.js'
import { uniform } from '../../seed.js'
import { pronounForSex, standaloneSentences, toThirdPerson } from '../../text/third-person.js'
import type { DrawnPatient } from './draw.js'

/** Text in both languages. */
export interface BilingualText {
  zh: string
  en: string
}

type Speaker = Pick<Case['demographics'], 'speaker' | 'relation'>

/** A relative speaks for a child younger than this. */
const childUpTo = 14
const elderlyFrom = 75
const parents: readonly BilingualText[] = [
  { zh: '母亲', en: 'mother' },
  { zh: '父亲', en: 'father' },
]
const grandparents: readonly BilingualText[] = [
  { zh: '奶奶', en: 'grandmother' },
  { zh: '爷爷', en: 'grandfather' },
]
/** P(a grandparent has come with a child). */
const grandparentShare = 0.15
const offspring: readonly BilingualText[] = [
  { zh: '女儿', en: 'daughter' },
  { zh: '儿子', en: 'son' },
]
/** P(an interpreter speaks); from 75 on, a son or daughter speaks twice as often as an interpreter. */
const interpreterShares: { readonly [spread in PersonaSpread]: number } = {
  plain: 0,
  mild: 0.02,
  varied: 0.06,
}

/** Draws who speaks: a parent or a grandparent for a child; else the patient, less often the wider the persona spread. */
export function drawSpeaker({ age, seed }: DrawnPatient, spread: PersonaSpread): Speaker {
  const u = uniform(seed, 'speaker')
  const relative = (of: readonly BilingualText[], first: number): Speaker => ({
    speaker: 'caregiver',
    relation: { ...(of[uniform(seed, 'relation') < first ? 0 : 1] as BilingualText) }, // two of each
  })
  if (age < childUpTo) {
    const grand = uniform(seed, 'grandparent') < grandparentShare
    return relative(grand ? grandparents : parents, 0.7)
  }
  if (u < interpreterShares[spread]) return { speaker: 'interpreter' }
  if (age >= elderlyFrom && u < 3 * interpreterShares[spread]) return relative(offspring, 0.5)
  return { speaker: 'self' }
}

const introductions: {
  readonly [whom in 'child' | 'grandchild' | 'parent']: Readonly<Record<'F' | 'M', BilingualText>>
} = {
  child: {
    F: { zh: '医生，我带女儿来看病。', en: 'I have brought my daughter, doctor.' },
    M: { zh: '医生，我带儿子来看病。', en: 'I have brought my son, doctor.' },
  },
  grandchild: {
    F: { zh: '医生，我带孙女来看病。', en: 'I have brought my granddaughter, doctor.' },
    M: { zh: '医生，我带孙子来看病。', en: 'I have brought my grandson, doctor.' },
  },
  parent: {
    F: { zh: '医生，我陪我妈来的。', en: 'I am here with my mother, doctor.' },
    M: { zh: '医生，我陪我爸来的。', en: 'I am here with my father, doctor.' },
  },
}

/** Draws a sentence for the finding's presence, a statement rather than a reply ("Yes, …") where there is one. */
function drawStatement({ id, say }: FindingDefinition, seed: number): BilingualText {
  const u = uniform(seed, 'opening', id)
  const at = (list: readonly string[] = []): string => {
    const from = standaloneSentences(list)
    return from[Math.floor(u * from.length)] ?? ''
  }
  return { zh: at(say.present?.zh), en: at(say.present?.en) }
}

/** Opening words of the consultation, in the third person where a caregiver speaks. */
export function openingStatement(
  finding: FindingDefinition,
  { seed, sex, age }: DrawnPatient,
  { speaker, relation }: Speaker,
): BilingualText {
  const own = drawStatement(finding, seed)
  if (speaker !== 'caregiver') return own
  const grand = relation?.en?.startsWith('grand') === true
  const child = grand ? 'grandchild' : 'child'
  const introduction = introductions[age < childUpTo ? child : 'parent'][sex]
  const pronoun = pronounForSex(sex)
  return {
    zh: `${introduction.zh}${toThirdPerson(own.zh, 'zh', pronoun)}`,
    en: `${introduction.en} ${toThirdPerson(own.en, 'en', pronoun)}`,
  }
}
