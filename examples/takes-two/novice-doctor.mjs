/**
 * A doctor who has one rule of thumb, a nose or a throat means a cold, and half believes it: asks one or two of six
 * questions in any order, hears no answer, and goes by the rule or by the toss of a coin. A model that imitates it can
 * speak, and knows what the doctor knows.
 */
import { shuffle, uniformInt } from 'bedside'

const questions = [
  'Do you have a fever?',
  'Do your muscles ache?',
  'Have you had chills?',
  'Is your nose running?',
  'Do you have a cough?',
  'Does your throat hurt?',
]
const mostQuestions = 2
const [flu, cold] = ['Influenza', 'Common cold']
const rule = ({ complaint }) => (/nose|throat/i.test(complaint.en ?? '') ? cold : flu)

/** The agent: chance is that of the consultation's seed. */
export const agent = ({ intake, turns }, { seed }) => {
  const asked = 1 + uniformInt(mostQuestions, seed, 'how many')
  const text = shuffle(questions, seed, 'order').slice(0, asked)[turns.length]
  if (text !== undefined) return { action: { kind: 'ask', text } }
  const believes = uniformInt(2, seed, 'believes') === 0
  const diagnosis = believes ? rule(intake) : [flu, cold][uniformInt(2, seed, 'coin')]
  return { action: { kind: 'diagnose', diagnosis, recommendation: 'See me again.' } }
}
