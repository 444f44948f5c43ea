/** What a doctor calls a patient for whom somebody else speaks: "your dad" is no relative then, but "he"; "your mum", his wife. */
import type { PatientContext } from '../../../patient.js'

/** Other words for those whom carers bring. */
const called: Readonly<Record<string, string>> = {
  father: 'father|dad|daddy',
  mother: 'mother|mum|mom',
  grandfather: 'grandfather|grandad|granddad|grandpa',
  grandmother: 'grandmother|gran|granny|nan|grandma',
}
/** Whose wife or husband a word then means. */
const spouseOf: Readonly<Record<string, string>> = {
  father: 'mother',
  mother: 'father',
  grandfather: 'grandmother',
  grandmother: 'grandfather',
}
/** The same words in Chinese. */
const calledZh: Readonly<Record<string, string>> = {
  father: '爸爸?|父亲|老爸',
  mother: '妈妈?|母亲|老妈',
  grandfather: '爷爷|姥爷|外公',
  grandmother: '奶奶|姥姥|外婆',
}
/** An old patient of whom a doctor speaks. */
const elder = { M: /老爷子|老先生|老人家|老头儿?/g, F: /老太太|老人家/g } as const

/** The words of a carer for the patient: "I am here with my father." */
const brought = /\b(?:brought|with) my (\w+)\b/

/** An utterance to a carer with "he" or "she" in place of "your dad". */
export function nameByPronoun(utterance: string, { view }: PatientContext): string {
  const { speaker, sex } = view.demographics
  const relative =
    speaker === 'caregiver' ? brought.exec(view.complaint.text.en ?? '')?.[1] : undefined
  if (relative === undefined) return utterance
  const [he, his, ta] = sex === 'F' ? ['she', 'her', '她'] : ['he', 'his', '他']
  const spouse = spouseOf[relative]
  if (/\p{Script=Han}/u.test(utterance)) {
    const own = calledZh[relative]
    const others = spouse === undefined ? undefined : calledZh[spouse]
    const plain = own ? utterance.replace(new RegExp(`[您你](?:${own})`, 'g'), ta) : utterance
    const wed = others ? plain.replace(new RegExp(`[您你](?:${others})`, 'g'), `${ta}老伴`) : plain
    return own ? wed.replace(elder[sex === 'F' ? 'F' : 'M'], ta) : wed
  }
  const words = new RegExp(`\\byour (?:${called[relative] ?? relative})(['’]?s\\b)?`, 'gi')
  const plain = utterance.replace(words, (_, own: string | undefined) => (own ? his : he))
  if (spouse === undefined) return plain
  const other = new RegExp(`\\byour (?:${called[spouse]})\\b`, 'gi')
  return plain.replace(other, sex === 'F' ? 'her husband' : 'his wife')
}
