/**
 * A doctor who has one rule of thumb, a cough means influenza, and half believes it: orders one of three examinations
 * whatever is the matter, reads no result, and goes by the rule or by the toss of a coin.
 */
import { uniformInt } from 'bedside'

const exams = ['Vital signs', 'Throat inspection', 'Nose inspection']
const [flu, throat] = ['Influenza', 'Streptococcal pharyngitis']
// The history is part of what the doctor reads at first.
const rule = ({ complaint }) => (/cough/i.test(complaint.en ?? '') ? flu : throat)

/** The agent: chance is that of the consultation's seed. */
export const agent = ({ intake, turns }, { seed }) => {
  if (turns.length === 0)
    return { action: { kind: 'order', exam: exams[uniformInt(exams.length, seed, 'exam')] } }
  const believes = uniformInt(2, seed, 'believes') === 0
  const diagnosis = believes ? rule(intake) : [flu, throat][uniformInt(2, seed, 'coin')]
  return { action: { kind: 'diagnose', diagnosis, recommendation: 'See me again.' } }
}
