/**
 * Attributes of a complaint that a question may be after: where, how it began, what it is like. They tie a
 * question to the finding that records the attribute, by cues that both of them hold.
 */

/** Cues in the normal form, per attribute. */
const cues: Readonly<Record<string, RegExp>> = {
  onset:
    /\b(?:sudden|suddenly|gradual|gradually|all at once|build up|come on slowly|slowly)\b|\bhow did\b.{0,30}\b(?:start|begin|come on)\b|突然|一下子|慢慢|逐渐|渐渐|怎么开始|急不急/,
  site: /\b(?:where|whereabouts|which (?:part|side|area|spot)|one side|both sides|point to|located|location)\b|哪里|哪儿|哪边|哪一边|哪侧|部位|位置|哪个地方|一侧|两侧|左边|右边/,
  character:
    /\b(?:kind|sort|type) of\b|\b(?:feel like|describe|sharp|dull|burning|crushing|stabbing|throbbing|pressing|squeezing|pounding|cramping|tight)\b|什么样|什么感觉|怎么个|怎么疼|怎样疼|性质|绞疼|刺疼|胀疼|跳疼|跳着疼|隐疼|闷疼|压着疼|压榨|针刺|烧灼/,
  trigger:
    /\btriggers?\b|\b(?:sets?|brings?) .{0,25}\bo(?:ff|n)\b|\b(?:exert|exertion|exercise|exercising)\b|\bwhen you (?:walk|move|climb|run|breathe)\b|\bmakes? .{0,25}worse\b|诱因|诱发|活动时|活动的时候|运动|吸气|走路|爬楼|什么时候|什么情况/,
  colour:
    /\bcolou?r\b|\b(?:clear|green|yellow|bloody|white|rusty)\b|颜色|黄的|白的|绿的|白色|黄色|绿色|有血|带血/,
  relief: /\b(?:better|relieved?|eases?|help|improves?)\b|缓解|减轻|好转|会好/,
  night: /\bnights?\b|夜里|夜间|半夜/,
  food: /\b(?:meals?|foods?|eat|eating)\b|饭|吃|空腹/,
}

const named = Object.entries(cues)

/** The attributes that some texts in normal form speak of. */
export const attributesOf = (texts: readonly string[]): ReadonlySet<string> =>
  new Set(named.filter(([, cue]) => texts.some((text) => cue.test(text))).map(([name]) => name))
