/** Chinese questions about treatment that name a symptom only as what was treated: 发烧以后吃过药没有, 吃过退烧药吗. */
import type { PhrasedSentence } from '../finding-match.js'

/** What was done or taken, once. */
const treated =
  /怎么(?:办|处理|弄|治|缓解)的?|(?:吃|用|抹|擦|喝|服)(?:过|了|没)(?:用过|吃过)?(?:什么|哪些|点|一?些)?[^，过]{0,4}药(?!过敏)|打(?:过|了|没)[^，药]{0,2}针|自己(?:买|找|吃)[^，]{0,3}药|(?:吃|用)药(?:了)?(?:没有?|吗|么)/
/** What is taken now. */
const taking = /(?:吃|用|服)(?:着|点)?[^，过]{1,4}药/
const regularly = /平时|长期|一直|每天|天天|常年|现在|目前|眼下|最近|在(?:吃|用|服)/

/** Characters after the words for a treatment: 没有啊. */
const maxRest = 4

/** Whether a Chinese sentence asks what was done for a symptom, or what medicine the patient takes. */
export function treatmentAsked({
  lexicon,
  sentence,
  found,
}: PhrasedSentence): 'tried' | 'taking' | undefined {
  const { text, start: from, inquires } = sentence
  if (!inquires || lexicon.exactQuestion(text) !== undefined) return undefined
  const match = treated.exec(text)
  const now = regularly.test(text) && !/[吃用抹擦喝服]过/.test(match?.[0] ?? '')
  const named = match && !now ? match : now ? taking.exec(text) : null
  if (!named) return undefined
  const to = named.index + named[0].length
  // 吃了药症状会减轻吗 asks what the medicine did.
  if (!now && text.length - to > maxRest) return undefined
  const symptoms = found.every(
    ({ value, end }) =>
      lexicon.knowledge.finding.get(value.id)?.kind === 'symptom' && end - from <= to,
  )
  // Without a symptom in it, what is taken now needs no other reading.
  return !symptoms || (now && found.length === 0) ? undefined : now ? 'taking' : 'tried'
}
