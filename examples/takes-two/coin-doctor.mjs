/**
 * A doctor who knows no medicine: asks one to three of six questions in any order, then names one of the two diseases by
 * the toss of a coin. A model that imitates it can speak, and is right half of the time.
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
const diseases = ['Influenza', 'Common cold']
const mostQuestions = 3

/** The agent: all that it says is decided by the seed of the consultation. */
export const agent = ({ turns }, { seed }) => {
  const asked = 1 + uniformInt(mostQuestions, seed, 'how many')
  const text = shuffle(questions, seed, 'order').slice(0, asked)[turns.length]
  if (text !== undefined) return { action: { kind: 'ask', text } }
  const diagnosis = diseases[uniformInt(diseases.length, seed, 'coin')]
  return { action: { kind: 'diagnose', diagnosis, recommendation: 'See me again.' } }
}
