/** What Chinese doctors tell before a short question: instructions that end in 知道吗, a plan before 您看行不行. */

/** Asks whether it was understood, or for agreement. */
const check =
  /^(?:(?:你)?(?:都)?(?:知道|明白|记住|记得|听懂|听明白|懂|晓得|清楚)了?(?:吗|吧|没|没有|么)|好吗|好吧|好不好|行吗|行吧|行不行|可以吗|可不可以|你看(?:行|可以|成|好|呢|怎么样|行不行|好不好|可以不)(?:吗|不|么|呢)?|你?[^，]{0,5}(?:同不同意|同意(?:吗|么|不)|能接受(?:吗|么|不)|没意见吧|有没有意见)|(?:你)?(?:还)?有(?:没有)?(?:什么|啥)(?:顾虑|意见|想法|担心的?))$/

/** Tells the patient what to do. */
const instructs =
  /^(?:那|嗯|好|好的|然后|还有)?(?:你)?(?:就)?(?:回去|回家|以后|这[几两]天|先|平时)?(?:以后|之后|后)?(?:一定)?(?:要|得|尽量|最好|必须)?(?:不要|不能|不许|别|少|多(?![久长少大高远重])|注意|记得|按时|坚持|清淡|好好|戒|忌|控制|休息|卧床)/

/** Says what the doctor thinks or means to do. */
const plans =
  /^(?:那|嗯|好|好的|所以|然后|现在)?(?:我(?:们)?(?:考虑|看|想|觉得|估计|怀疑|建议|先|给|帮|准备|打算)|(?:先|再|得|要|需要|建议|马上|赶紧|最好)|怕是|恐怕|估计|可能是|像是|应该是|要是|如果|万一|给[你他她]|帮[你他她])|(?:马上|及时|立刻)(?:回来|来医院|就医)/

/** Asks something by itself. */
const asks = /[吗呢么]$|[什怎]么|多[少久长大]|哪|[几谁]|有没有|是不是|会不会|能不能/

const plansOrInstructs = (clause: string): boolean => plans.test(clause) || instructs.test(clause)

/** Whether the clauses of a sentence tell what to do, and only ask whether that is understood or all right. */
export const instructsAndChecks = (clauses: readonly string[]): boolean =>
  clauses.length > 1 &&
  check.test(clauses.at(-1) ?? '') &&
  clauses.slice(0, -1).some((clause) => instructs.test(clause)) &&
  !clauses.slice(0, -1).some((clause) => asks.test(clause))

/**
 * How many clauses of a sentence come before its question and only tell the doctor's plan: all but the last of
 * 我考虑是偏头痛，先给您开点药，您看行不行; 0 where they may be what is asked about.
 */
export function planBefore(clauses: readonly string[]): number {
  const before = clauses.slice(0, -1)
  const last = clauses.at(-1) ?? ''
  if (before.length === 0 || before.some((clause) => asks.test(clause))) return 0
  if (check.test(last)) return before.some(plansOrInstructs) ? before.length : 0
  return before.length > 1 &&
    before.some((clause) => /^(?:我(?:考虑|怀疑|估计)|怕是|恐怕)/.test(clause))
    ? before.length
    : 0
}
