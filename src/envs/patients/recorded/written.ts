/** Whether a case is a written record, whose findings are questions and answers of its own. */
import type { PatientView } from '../../../case.js'

/** Whether a patient's findings are the exchanges or passages of a record. */
export const isWritten = ({ findings }: PatientView): boolean =>
  [...findings.values()].some(({ question, utterance }) => question ?? utterance)
