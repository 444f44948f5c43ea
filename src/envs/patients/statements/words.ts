/**
 * Words that say nothing about the body by themselves: grammar, talk, manner. What a reply has beside them is what it
 * states. No word here may add a finding to a sentence.
 *
 * Long because it is one table of words in two languages.
 */

const split = (text: string): readonly string[] => text.trim().split(/\s+/)

/** English words without content, as they stand after contractions are taken apart. */
export const everydayEnglish: ReadonlySet<string> = new Set(
  split(`
 a an the this that these those some any such own either each every all
 i me my mine myself you your yours yourself we us our it its itself he him his himself she her hers herself they
 them their theirs who whom whose which what when where why how there here
 am is are was were be been being do does did done doing have has had having can could will would shall should may
 m s t d ll re ve
 to of in on at for from with by about into then so too also just very really quite rather pretty
 and or but if because since while though although however anyway anyhow besides otherwise plus still even ever
 already now today lately recently currently moment right actually honestly truthfully truly frankly basically
 simply exactly literally generally definitely certainly surely obviously indeed absolutely totally completely
 well oh ah hm hmm mm mhm er erm um uh eh mean know think guess suppose reckon believe say said says
 saying tell told telling tells mention mentioned repeat answer asked ask asking question honest truth sure
 doctor doc sir madam miss ma'am please thanks thank sorry pardon afraid glad
 yes yeah yep yup nope nah
 get gets getting got go goes going went come comes coming came keep keeps kept make makes making made 
 feel feels feeling felt seem seems seemed notice noticed noticing experience experienced experiencing
 suffer suffered suffering let lets thing things stuff kind sort bit lot 
 like quite that's bother bothers bothered bothering bothersome
 wait let's let us with concerned comes 
 course fact sake 
 good question kindly sadly luckily thankfully unfortunately fortunately
 anything something everything whatever whichever whoever
 worry worries worrying want wanted wants need needed mentioning understand
 
 `),
)

/** English words of talk alone: a clause of nothing else says nothing. */
export const idleEnglish: ReadonlySet<string> = new Set(
  split(`well oh ah hm hmm mm mhm er erm um uh eh doctor doc sir madam miss please thanks thank you sorry pardon actually
  honestly truthfully truly frankly basically really definitely certainly surely indeed absolutely obviously simply just
  so and but or because also too besides anyway anyhow though although however then now today lately recently currently
  okay ok fine alright good right sure kindly luckily thankfully unfortunately fortunately sadly the truth that is s it
  all i ma'am to be honest of course with`),
)

/** English words that an answer of yes or no consists of, beside words of talk. */
export const answerEnglish: ReadonlySet<string> = new Set(
  split(`yes yeah yep yup no nope nah not never none neither nothing i it he she they we do does did have has had am is
  are was were been any anything like that of the sort kind at all them either one me my too also quite very certainly
  bother bothers bothered bothering worries worrying this really get got noticed notice feel a bit`),
)

/** English words that deny; `lost`, `gone` and the like deny what they go with. */
export const englishDenials: ReadonlySet<string> = new Set(
  split(`not no nope nah never none nothing nobody neither nor without hardly barely scarcely lost lose losing loss gone lack
  lacking lacks less stopped stop stops nowhere free deny denied zero nil`),
)

/** English words for what is as it should be. */
export const englishWellness: ReadonlySet<string> = new Set(
  split('fine normal normally alright clear healthy plenty good ok okay perfect perfectly great'),
)

/** English words for what is not, whatever it is. */
export const englishTrouble: ReadonlySet<string> = new Set(
  split(
    'wrong problem problems trouble troubles issue issues difficulty difficulties complaint complaints',
  ),
)

/** Words of doubt that make a statement no statement. */
export const englishHedges: ReadonlySet<string> = new Set(
  split('maybe perhaps possibly might probably supposedly allegedly unsure unclear'),
)

/** Not knowing, in the normal form of a clause. */
export const notKnowing = {
  en: /\b(?:(?:do|did|does|could|can|would|will|am|is|are|was|have|has) not (?:really |quite |exactly |honestly |rightly |truly |actually |even )?(?:know|remember|recall|say(?! (?:that )?(?:i|he|she|it|there)\b)|tell|sure|certain|recollect|noticed?(?= *$| it\b| that\b)|paid|pay|kept|keep|check|checked|think about|thought about)|not (?:too |so |that |really |quite |entirely |at all |all that )?(?:sure|certain)|no (?:idea|clue)|(?:hard|difficult|not easy) (?:for me )?to (?:say|tell|know)|never (?:really |actually )?(?:paid|checked|thought about)|cannot (?:really |quite |honestly )?(?:say|tell|remember|recall|be sure)|beats me|got me there|unsure|who knows|anyone s guess|slipped my mind)\b/,
  zh: /不知道|不晓得|不清楚|不太清楚|不大清楚|搞不清|弄不清|说不清|说不准|说不好|说不上|讲不清|不好说|难说|记不清|记不大清|不太记得|不大记得|不记得|记不得|想不起|记不住|没(?:怎么|太|大)?(?:注意|留意|在意|留神)(?!到|过?有)|不太在意|不确定|不太确定|拿不准|没印象|忘了|没数|没底/,
} as const

/** Chinese words without content; the longest that fits is taken out first. */
export const everydayChinese: readonly string[] = split(`
 说实话 说真的 老实说 老实讲 实话说 不瞒你说 不瞒您说 怎么说呢 这么说吧 跟你说 跟您说 和你说 告诉你 医生 大夫 主任 老师
 刚才说过 刚才说了 我说过 说过了 说过 前面讲过 前面说过 前面说的 刚才 刚刚 前面 还是那句话 再说一遍 提过 讲过 讲了
 是的 对的 对啊 对呀 是啊 是呀 嗯嗯 嗯 啊 呀 吧 呢 吗 嘛 哦 噢 喔 哎呀 哎 唉 诶 欸 呃 额 哈 啦 咯 哟 呗 喽 嘞
 不过 不好意思 差不多 只不过 不光 不但 不仅 要不 要不然 不然 是不是 有没有 好不好 对不对 行不行 对不起 不得不 没关系
 这个 那个 这些 那些 这种 那种 这样 那样 这么 那么 这事 这事儿 这会儿 这块儿 这方面 那方面 这儿 那儿 这里 那里 这边 哪儿 哪里
 什么 为什么 多少 哪个 谁 啥 咋 咋说
 觉得 感觉 感到 认为 以为 知道 看来 看着 出现 发现 发生 存在 属于 情况 现象 症状 问题 毛病 地方 东西 事情 事儿 时候 样子
 就是 就是说 也就是 其实 确实 的确 真的 真是 倒是 反正 总之 当然 肯定 一定 绝对 完全 根本 压根 压根儿 一点 一点儿 一点也 丁点 半点
 从来 向来 目前 现在 最近 近来 平时 平常 今天 一直 一向 老是 总是 总 老 经常 常常 有时 有时候 偶尔 还是 还有 另外 再就是 对了 而且 并且
 然后 所以 因为 但是 可是 只是 虽然 如果说 除了 以外 之外 任何 比较 特别 非常 十分 挺 很 太 真 蛮 还算 算是 有点 有点儿 有些 有一点
 我想 想想 我 你 您 他 她 它 咱 俺 我们 你们 他们 咱们 自己 自个儿 本人 人家 孩子 宝宝 家里人
 的 地 得 了 着 过 是 有 在 也 都 就 才 又 再 还 和 跟 与 及 或 或者 以及 被 把 让 给 对 向 从 到 去 来 上 下 里 个 些 点 儿 呢 会 可 可以 要 用 这 那 么 们 之 其 此 而 且 但 却 因 为 以 于 并 只 倒 应该 需要 请 嗳 听说 您问 问的 的话 来说 来讲 而言 至于 关于 有关 一下 一声 讲真 坦白说 谢谢 多谢 麻烦 放心 您放心 老人家 好的 好吧 行吧
 确确实实 实在 简直 稍微 稍稍 略微 多少有点 啥的 之类 什么的 一回事 这回 这次 这几天 这阵子 这段时间 这一阵 这两天
`)

/** Chinese words of talk alone, and of yes and no: a clause of nothing else states nothing. */
export const idleChinese: readonly string[] = split(`
  说实话 说真的 老实说 实话说 不瞒你说 怎么说呢 这么说吧 跟你说 跟您说 医生 大夫 主任 老师 谢谢 多谢 麻烦你 不好意思 对不起 没关系
  刚才说过 刚才说了 我说过 说过了 前面讲过 前面说过 前面说的 还是那句话 提过 我前面讲过 就是前面说的 你放心 放心
  这个嘛 这个 那个 嗯 啊 呀 吧 呢 嘛 哦 噢 喔 哎呀 哎 唉 诶 欸 呃 额 哈 啦 咯 哟 呗 喽 嘞 其实 真的 真是 确实 的确 倒是 反正
  当然 肯定 一定 绝对 就是 就是这样 这样 对了 另外 还有 再就是 然后 所以 而且 最近 现在 目前 平时 一直 从来 向来 我 他 她 也 都 倒 真 可 还 好的 好 行 是这样
  没有 没 不 有 会 是的 是 对的 对 不会 没啥 没什么 的 了 过 着 地 一点 一点儿 根本 压根 完全 觉得 感觉 挺 很 这方面 这种 这种情况 情况 什么
`)

/** Chinese words that deny. */
export const chineseDenials: readonly string[] = split('没有 没 不 未 无 别 并未 并没有 从未 毫无')

/** Chinese phrases for what is as it should be; they are taken out before denials are counted. */
export const chineseWellness: readonly string[] = split(
  '没什么问题 没问题 没啥问题 没事儿 没事 没毛病 没啥毛病 没什么不舒服 没啥不舒服 没什么毛病 没异常 没什么异常 没不舒服 没有问题 没有不舒服 不碍事 正常 还好 挺好 很好 都好 蛮好 好好的 不错 还行 还可以 通畅 舒服 好得很 一切正常 没啥事 没什么事',
)

/** Chinese phrases for what is not. */
export const chineseTrouble: readonly string[] = split(
  '不舒服 难受 不对劲 不正常 异常 不得劲 不好受 不好',
)

/** Chinese words of doubt. */
export const chineseHedges: readonly string[] = split(
  '可能 也许 或许 大概 好像 似乎 说不定 没准 估计',
)
