/** Ways of putting the same in Chinese: colloquial question words and asides to the reader, in the words of the rest. */

const variants: readonly (readonly [RegExp, string])[] = [
  // What stands in brackets explains, or tells the reader what is done: （叙述上述病史情况）.
  [/(?<=[^（(])[（(][^（）()]*[）)]/g, ''],
  // Days that are only offered as an answer: 从哪天开始的，昨天？前天？
  [/(?<=[？?，,。])(?:(?:今天|昨天|前天|大前天|上周|上个?月)[？?，,]?)+$/, ''],
  [/℃/g, '度'],
  [/(?:什么|啥)时间/g, '什么时候'],
  [/啥时候?/g, '什么时候'],
  [
    /(?<!上次.{0,6}|末次.{0,6}|上回.{0,6}|最近.{0,4})(?:哪一?天|打哪天|多会儿)(?=开始|发现|起的?|得的?|出现|有的|不舒服|[^，。？?]{1,4}的[，。？?]?)/g,
    '什么时候',
  ],
  [/多长时间(?=[^，。？?多]{0,4}一[次回趟])/g, '多久'],
  [/([几多]少?)[趟遍](?!腿)/g, '$1次'],
  // "And the stools, how many a day?" names first what it then asks about.
  [
    /(?<=^|[。！？!?，,]\s*)((?!你|您|我|他|她|孩子)[^，,。！？!?]{1,4})呢[，,](?=[^，。？?]{0,6}(?:[几多什怎哪]|.吗|.不|没))/g,
    '$1',
  ],
  [/咋么?(?=样|回事|办|治|弄)/g, '怎么'],
]

/** The utterance with such words put as the rest of the rules expect them. */
export const plainChinese = (text: string): string =>
  variants.reduce((read, [pattern, word]) => read.replace(pattern, word), text)
