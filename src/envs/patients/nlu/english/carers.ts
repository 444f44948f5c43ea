/** What a doctor calls a patient for whom somebody else speaks: "your dad" is no relative then, but "he". */
import type { PatientContext } from '../../../../patient.js'

/** Other words for those whom carers bring. */
const called: Readonly<Record<string, string>> = {
  father: 'father|dad|daddy',
  mother: 'mother|mum|mom',
  grandfather: 'grandfather|grandad|granddad|grandpa',
  grandmother: 'grandmother|gran|granny|nan|grandma',
}

/** The words of a carer for the patient: "I am here with my father." */
const brought = /\b(?:brought|with) my (\w+)\b/

/** An utterance to a carer with "he" or "she" in place of "your dad". */
export function nameByPronoun(utterance: string, { view }: PatientContext): string {
  const { speaker, sex } = view.demographics
  const relative =
    speaker === 'caregiver' ? brought.exec(view.complaint.text.en ?? '')?.[1] : undefined
  if (relative === undefined) return utterance
  const words = new RegExp(`\\byour (?:${called[relative] ?? relative})(['’]?s\\b)?`, 'gi')
  const [he, his] = sex === 'F' ? ['she', 'her'] : ['he', 'his']
  return utterance.replace(words, (_, own: string | undefined) => (own ? his : he))
}
