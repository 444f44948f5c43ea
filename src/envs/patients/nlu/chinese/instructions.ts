/** Chinese instructions that end in a question: 回去多喝水，知道吗. */

/** Asks whether it was understood, or for agreement. */
const check =
  /^(?:(?:你)?(?:知道|明白|记住|听懂|听明白|懂|晓得|清楚)了?(?:吗|吧|没|没有|么)|好吗|好吧|好不好|行吗|行吧|行不行|可以吗)$/

/** Tells the patient what to do. */
const instructs =
  /^(?:那|嗯|好|好的|然后|还有)?(?:你)?(?:就)?(?:回去|回家|以后|这[几两]天|先|平时)?(?:以后|之后|后)?(?:一定)?(?:要|得|尽量|最好|必须)?(?:不要|不能|不许|别|少|多(?![久长少大高远重])|注意|记得|按时|坚持|清淡|好好|戒|忌|控制|休息|卧床)/

/** Whether the clauses of a sentence tell what to do, and only ask whether that is understood or all right. */
export const instructsAndChecks = (clauses: readonly string[]): boolean =>
  clauses.length > 1 &&
  check.test(clauses.at(-1) ?? '') &&
  clauses.slice(0, -1).some((clause) => instructs.test(clause)) &&
  !clauses.slice(0, -1).some((clause) => /[吗呢么]$|什么|多少|几|有没有|是不是/.test(clause))
