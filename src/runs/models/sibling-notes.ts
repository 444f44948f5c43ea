/** Where siblings may not have met the same patient: what a run's report must say. */
import { isOwnPart } from '../../tasks/parts.js'

/** Who plays beside the doctor. */
interface Players {
  /** Name or module of the patient, where one is named. */
  readonly patient?: string | undefined
  readonly exams?: readonly string[] | undefined
  /** Parts that a program passed. */
  readonly own?: readonly string[] | undefined
}

const ownNote = (who: string): string =>
  `${who} of your own: siblings hear the same only where it answers the same question in the same state alike, whatever was asked before`

/** What siblings were not promised, in sentences; none where patient and examinations are the package's own. */
export function siblingNotes({ patient, exams = [], own = [] }: Players): readonly string[] {
  const ownPatient =
    own.includes('patient') || (patient !== undefined && isOwnPart('patient', patient))
  const ownExams = own.includes('exams') || exams.some((name) => isOwnPart('exams', name))
  return [
    ...(own.includes('env') ? [ownNote('the env is')] : []),
    ...(ownPatient ? [ownNote('the patient is')] : []),
    ...(ownExams ? [ownNote('an exam simulator is')] : []),
    ...(exams.includes('diaggym-parity')
      ? [
          'diaggym-parity reads the examinations that were done before, so that siblings may have had different results of one examination; diaggym gives all the same',
        ]
      : []),
  ]
}
