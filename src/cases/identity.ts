/** Who a patient is: cases of one patient never stand on both sides of a split, nor in training and evaluation. */
import { type Case, type GraderView, graderView } from '../case.js'
import { generatedCaseSeed } from '../seed.js'
import { type CaseIdParts, parseCaseId } from './generator/case-id.js'

/** What is known of a case: its id at least. */
export type KnownCase = Pick<GraderView, 'caseId'> & Partial<GraderView>

/** All dialogue text of a case, normalised and without its id: equal for duplicate cases. */
export const textKey = ({
  complaint,
  findings,
}: Pick<GraderView, 'complaint' | 'findings'>): string =>
  JSON.stringify([
    complaint.text.zh,
    complaint.text.en,
    findings.map(({ id, state, question, utterance }) => [id, state, question, utterance]),
  ])
    .normalize('NFKC')
    .toLowerCase()
    .replace(/\s+/g, ' ')

/** What a generated case was generated from, by its canary or else its id; undefined for any other case. */
const generatedFrom = ({ caseId, provenance }: KnownCase): CaseIdParts | undefined =>
  parseCaseId(provenance?.canary?.split('/').at(-1) ?? '') ?? parseCaseId(caseId)

/** Whether a case was generated for the held-out split, of whatever tier, clinic and seed. */
export const isGeneratedHeldOut = (known: KnownCase): boolean =>
  generatedFrom(known)?.split === 'heldout'

/**
 * Identity of a case's patient. Generated cases are one patient where all their draws are: the same seed, split and
 * number, whatever the tier, the clinic or the change of a twin, and also under another id, by the canary. Other cases
 * are one patient where their text is the same; without the text, only the id is left.
 */
export function patientIdentity(known: KnownCase): string {
  const { caseId, complaint, findings } = known
  const generated = generatedFrom(known)
  if (generated) {
    const { seed, split, n } = generated
    return `generated ${generatedCaseSeed(seed, split, n)}`
  }
  return complaint && findings ? `text ${textKey({ complaint, findings })}` : `id ${caseId}`
}

/** Makes the test whether a case, or another of the same patient, is one of `cases`. */
export function patientsOf(cases: readonly Case[]): (known: KnownCase) => boolean {
  const ids = new Set(cases.map(({ id }) => id))
  const patients = new Set(cases.map((truth) => patientIdentity(graderView(truth))))
  return (known) => ids.has(known.caseId) || patients.has(patientIdentity(known))
}
