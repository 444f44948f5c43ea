/** Ways of putting the same in Chinese: colloquial question words and asides to the reader, in the words of the rest. */

const variants: readonly (readonly [RegExp, string])[] = [
  // What stands in brackets explains, or tells the reader what is done: （叙述上述病史情况）.
  [/(?<=[^（(])[（(][^（）()]*[）)]/g, ''],
  // Days that are only offered as an answer: 从哪天开始的，昨天？前天？
  [/(?<=[？?，,。])(?:(?:今天|昨天|前天|大前天|上周|上个?月)[？?，,]?)+$/, ''],
  [/℃/g, '度'],
  // Who is spoken to: 奶奶，您哪里不舒服.
  [
    /(?<=^|[。！？!?])((?:嗯|哎|来|好|好的|那|行|哦)?[，,]?)(?:奶奶|爷爷|阿姨|叔叔|大[爷妈娘叔伯哥姐]|伯伯|老(?:人家|先生|太太|爷子|伯|师傅?)|姥姥|姥爷|外婆|外公|师傅|小(?:伙子|姑娘|朋友|妹妹|弟弟)|美女|帅哥|同学|宝妈|(?:孩子|宝宝)?(?:妈妈|爸爸|家长)(?=[，,]\s*[您你孩宝他她]))(?:[您你]好)?[，,]/g,
    '$1',
  ],
  // What is asked about, before the question: 月经史我问一下，….
  [
    /(?<=^|[。！？!?])[^，,。？?]{0,10}我(?:再|想|先|简单)?(?:问|了解)(?:一?[下些])?(?:[您你](?:一下)?)?[，,]/g,
    '',
  ],
  [/(?<=多久|时间|[天年月周]|[几多]次)啦/g, '了'],
  // 痛不痛经, 过不过敏: whether, with the word cut in two.
  [
    /(?<=([痛过感便贫失恶呕头耳咳发反烧心胸打怀出怕流抽口尿乏盗嗜熬挑晕鼻牙腹腿关]))不\1(?=经|敏|冒|秘|血|眠|心|吐|晕|疼|痛|鸣|嗽|烧|热|酸|慌|闷|嗝|鼾|呼|孕|汗|冷|泪|涕|筋|烟|干|渴|苦|频|急|力|睡|夜|食|车|塞|泻|胀|节)/gu,
    '',
  ],
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
