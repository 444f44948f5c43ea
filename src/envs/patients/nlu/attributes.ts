/** Attributes of a complaint that a question may ask for: site, duration, severity, character, …. */
import type { DetailAttribute } from '../../../knowledge/knowledge.js'

/** What a question may ask of a complaint: its attributes, and what no finding records. */
export type AskedAttribute = DetailAttribute

/** Cue patterns over the normal form, per attribute. Where several overlap, the first match counts. */
const cues: { readonly [attribute in AskedAttribute]: RegExp } = {
  purpose:
    /\b(?:prescribed|given) (?:it |that |them )?for$|\b(?:which|what) (?:illness|condition) .{0,30}\bfor$|(?:治|管)(?:的)?(?:是)?(?:什么|啥|哪)(?:的|病)?(?:药)?|(?:干|做)(?:什么|啥)用|\b(?:what(?:s|re)?|which|why)(?: \w+){0,4} (?:it|that|this|those|they|them|taking|on|given|prescribed) for$|\bwhat(?:s|re)? (?:(?:is|are|was|were) )?(?:it|that|this|those|they|them) (?:prescribed|given|meant) for$|\bwhy (?:do|are|were|did) you (?:\w+ )?(?:take|taking|on|given|need) (?:it|that|this|those|them)\b/,
  score:
    /\b(?:out of (?:10|ten)|scale|(?:from )?(?:1|one|0|zero|nought) to (?:10|ten)|rate (?:the|your|it|that)|score (?:it|that|the|your)|(?:what|which) (?:number|score) (?:would|do|is|out))\b|几分|打(?:个)?分|满分/,
  reading:
    /\b(?:how high|how hot (?:is|was|did|has|have|does) (?:he|she|you|it|they)|highest|what was (?:the|your) (?:temperature|reading)|(?:temperature|thermometer) (?:say|show|read))\b|(?:量|烧|测)?(?:了|到|过)?(?:多少度|几度)|最高/,
  last: /\bwhen (?:was|were) (?:the|your) (?:last|most recent)\b|\bwhen did .{0,30}\blast\b(?! (?:week|month|year|night))(?: (?:take|took|use|go|get|do|happen)\w*)?|\b(?:the )?last time\b|(?:上一?|最后一?|最近(?:的)?一)[次回趟](?:发作|犯|出现|疼|吐|拉|晕|这样)?(?:大概)?(?:是|在)?(?:什么时候|哪天|几点|何时)|什么时候.{0,4}(?:上一?|最后一?|最近一)[次回趟]|\bhow (?:late|overdue) (?:is|are|was)\b/,
  latency:
    /\bhow (?:soon|quickly|long) after\b(?: (?:your |the |a |each )?\w+){0,2}|\bhow soon (?:does|do|did) (?:it|they|this|that)\b|\bhow long (?:between|before .{0,20}(?:come|came)s? on)\b|(?:吃|喝|碰|用|打)[完过了]?.{0,6}(?:之?后|以后|完).{0,4}(?:多久|多长时间|多快)|隔多久|过多久|过了多久/,
  doing:
    /\bwhat (?:were|was|are) (?:you|he|she|they) (?:\w+ )?doing\b|\bdoing (?:anything|something|what)\b|(?:当时|那会儿|那时候|正)?在?(?:干|做)(?:什么|啥|嘛)(?!工作|活|用|的)/,
  colour:
    /\b(?:what )?colou?rs?\b|颜色|啥色|什么色|[红黄白绿黑清灰粉]色?的还是[红黄白绿黑清灰粉]色?的/,
  side: /\b(?:(?:which|what) (?:side|leg|arm|eye|ear|foot|hand|ankle|knee|nostril|one is it)|(?:one|both|either) sides?|left or (?:the )?right|right or (?:the )?left|left \w+ or (?:(?:the|your|is it|was it) )*right(?: \w+)?|right \w+ or (?:(?:the|your|is it|was it) )*left(?: \w+)?|(?:left|right) side|(?:(?:in|on|of) )?both(?: (?:your |the )?(?:eyes|ears|sides|legs|feet|hands|arms))?|(?:in |on )?(?:just |only )?one (?:eye|ear|leg|arm|hand|foot|side)(?: or (?:in )?(?:both|two|the other))?|both of them|just (?:the )?one)\b|哪(?:一)?(?:只|条|边|侧)(?:眼睛?|耳朵?|腿|胳膊|手|脚)?|左(?:眼|耳|腿|手|脚|边|侧)?(?:还是|或|和)?(?:是)?右(?:眼|耳|腿|手|脚|边|侧)?|[两双](?:只|条|边|侧)(?:眼睛?|耳朵?|腿)?|(?:一|单|双|两)侧|哪(?:一)?[边侧]|两边|(?:左|右)(?:边|侧)/,
  frequency:
    /(?:[一每](?:天|日|晚|夜|周|个?月))?(?:大概|得|要)?(?:跑|拉|吐|咳|尿|解|起来?)?(?:几|多少)[次回趟]|(?:多久|多长时间)(?:会|要)?(?:犯|发作|疼|拉|解|有|出现|吐|用|吃|喷)?[一上]?[次回]|多久来一次|隔多久(?:一次)?|几天(?:解|拉|来|犯|发作|疼|吐|用|吃)?一[次回]|次数|频率|频繁|\b(?:how (?:often|frequent\w*)|how many (?:times|goes|attacks|episodes|bouts)|number of times|how many (?:have|did|do|has) (?:you|he|she)|how many (?:a|per|in a) (?:day|week|month|night)|how many (?!days|weeks|months|years|hours|tablets|pills|puffs|units|cigarettes|pints|glasses|pads|pillows|steps|(?:wet |dirty |soaked )?(?:nappies|diapers))(?:\w+ ){1,3}(?:today|a day|per day|in a day|a week|yesterday|last night|so far|since (?:then|yesterday|this morning))|every day|daily|how regularly|(?:come|comes|happen|happens|get (?:it|them|this|these)|have (?:it|them|these)) (?:very )?often)\b/,
  which:
    /^(?:是|那是|就是|具体是)?(?:什么|啥|哪种|哪个|哪一种|哪几种)药$|\bwhich (?:medicines?|tablets?|pills?|drugs?|medications?)\b|药名|药的名字|药.{0,3}叫(?:什么|啥)|^(?:(?:and|so|but) )?which(?: ones?| kind)?$|\bnames? of (?:it|that|them|those|the|your)(?: \w+)?\b|\bthe names?\b(?! of (?:the|your) (?:doctor|hospital|surgery))|\bwhich ones?\b|^(?:such as|like|for example|for instance)(?: what)?$|^哪(?:一|几)?(?:种|些|个|样)$|^(?:比如|例如|譬如)(?:说)?(?:呢)?$/,
  spell:
    /\bhow long .{0,30}\b(?:each|at a time|every time)\b|\bhow long (?:does|do) .{0,30}\b(?:last|go on)(?: for)? when (?:it|they) (?:comes?|happens?|starts?)\b|\beach (?:spell|bout|attack|episode)\b|\bhow long (?:does|do|did|is|are|was) (?:an?|each|one|every) \w+|\bhow long (?:were|was) (?:you|he|she) (?:out|unconscious|gone|passed out|blacked out)\b|\bhow long (?:does|did|do) (?:it|they|this|that|the \w+(?: \w+)?) last\b|\bhow long (?:until|till|before) (?:you|he|she) came (?:round|to|back)\b|\b(?:seconds|minutes|hours) (?:or )?(?:\w+ )?(?:minutes|hours|days)\b|几秒|(?:晕|昏)(?:倒|迷|过去)?了?(?:有)?(?:多久|多长时间|几分钟)(?!了)|(?:多久|多长时间|几分钟)(?:才|就|会|能|可以|自己){0,2}(?:醒|缓|过去|消失)|(?:一|每)(?:次|回|阵).{0,6}(?:多久|多长时间|几分钟|几秒)|\bhow long (?:does|do) (?:it|they|that|these|one) (?:\w+ )?(?:last|go on)\b/,
  radiation:
    /\b(?:does (?:it|the pain) move|spread|spreads|spreading|radiat\w+|travel|travels|mov(?:e|es|ed|ing) (?:anywhere|somewhere|around|to|into|down|up|around)|go(?:es)? (?:anywhere|into|down|up) |shoots?)\b|放射|扩散到|窜|牵扯到|蔓延|传到|跑到|转移到|连着|串(?![门亲联珠通])|往[^，]{1,8}(?:走|跑|传)(?:吗|么|没|不)/,
  aggravating:
    /\b(?:ma(?:kes?|de|king) .{0,30}\b(?:worse|it come on)|worsens?|worsened|aggravat\w+|brings? .{0,25}\bon|sets? .{0,25}\boff|triggers?|triggered|provoke\w*|get(?:s)? worse (?:when|with|if|after)|worse (?:when|with|if|after|on)|flares? up (?:when|after|with))\b|加重|(?:后|时|的时候)(?:会)?(?:更)?(?:厉害|重|明显)|(?:[动身头腰步路气咳嗽腿坐躺站睡累]的?时候?|[动身头腰步路]着?)(?:会不会|是不是|会|就|也|更|突然|又){0,3}(?:疼|痛|转|晕|喘|痒|难受|咳|犯|发作)(?:得)?(?:更)?(?:厉害|重|明显)?(?:吗|么|不|了)?$|更厉害|更严重|诱因|诱发|引起|引发|(?<!(?:一般|通常|平时|往往|多半|都)是?在?)什么(?:时候|情况)下?(?:会|才)?(?:发作|出现|厉害)|什么情况下?(?:会|才|容易)?(?:犯|疼|重|这样|发作|出现)|(?:碰到|碰上|遇到|遇上|闻到|接触到?)(?:什么|啥)(?:东西)?(?:就|会|容易)*(?:犯|发作|加重|疼|痒|咳|喘)|[会就](?:更|变)(?:疼|难受|重|痒|晕|喘|咳|胀)/,
  relieving:
    /\b(?:ma(?:kes?|de|king) .{0,30}\b(?:better|go away|easier|ease)|reliev\w+|eases?|easing|ease|helps?|improves?|better (?:when|with|if|after)|(?:does|did) (?:rest|resting|lying down|sitting down|sleep) help|settles?|goes away|calms?)\b|缓解|减轻|(?<!夜间|夜里|晚上|平时)休息(?!得|好吗|好么|好不好|怎).{0,4}(?:管用|有用|好)|好转|[好轻]一?[点些]|得轻|会好|能好|舒服一?[点些]|消失|缓(?:过来|下来|得过来|一缓)/,
  pattern:
    /\b(?:constant\w*|com(?:e|es|ing) and go(?:es|ing)?|on and off|all the time|continuous\w*|intermittent\w*|in (?:waves|bouts|spells|attacks)|(?:any|a) pattern)\b|有(?:什么|啥|没有)?规律|规律吗|一直|一天到晚|整天|成天|持续(?:性|的)|一阵一阵|一阵阵|阵发|断断续续|间断|时有时无|偶尔/,
  timing:
    /\b(?:time of (?:day|the day|year)|when (?:is|does|do|are) .{0,25}\b(?:worst|worse|happen|come)|at night|in the (?:morning|evening|night|daytime)|(?:by|towards?) (?:the )?(?:evening|night|end of the day)|(?:when|part|time) (?:in|of) the day|mornings?|evenings?|nights?|night ?time|daytime|all day|(?<!over )what time(?! (?:did|was|were|has|have)\b))\b|(?:一般|通常|平时|往往|多半|都)是?在?什么时候|什么时候(?:最|比较|更|会|容易|重|.{0,2}(?:厉害|明显))|早上|早晨|晨起|晚上|夜里|夜间|半夜|白天|下午|傍晚|时间段|哪个时候|哪个时段/,
  onset:
    /\b(?:sudden|suddenly|gradual|gradually|all at once|out of nowhere|out of the blue|build up|built up|come on (?:slowly|quickly|fast)|slowly|overnight|how (?:fast|quickly|suddenly) did|how did .{0,30}\b(?:start|begin|come on|first))\b|突然|一下子|慢慢|多(?:长时间|久).{0,4}(?:到(?:最|顶)|变成|成这样)|多快|逐渐|渐渐|忽然|怎么开始|怎么(?:起|发)(?:病|作)的|急不急|起病/,
  duration:
    /\b(?:how long|since when|for how (?:many|long)|how many (?:days|weeks|months|years|hours)|when did (?:it|this|that|the pain) (?:hit|strike|grab|catch)(?: (?:you|him|her))?|when did (?:you|he|she|they|anyone|anybody|mum|dad) (?:first )?(?:spot|see|realise|realize|become aware of|find)\b|when did .{0,40}\b(?:start|begin|first|come on|notice)|what time did .{0,40}\b(?:start|begin|first|come on|happen)|when did (?:it|that|this|you|he|she|they) (?:\w+ )?(?:happen|faint|pass out|collapse|fall)|over (?:what time|what period|how long)|how recently|long ago|what (?:day|time|date|hour) (?:did|was)|when was (?:it|that|this)(?! last)|when did (?:it|that|this|you) occur|(?<=^|\b(?:me|know|remember|recall|say|sure|idea|wonder|wondering|asked|asking|about|exactly) )when (?:the|your|his|her|their|this|that|it|all this|they|things|everything)(?: +\w+){0,3} +(?:started|began|begun|came on|appeared|set in))\b|多久|多长时间|(?<!这|那|近|前|头|好)几天|(?<!这|那|近|前|头|好)几个月|(?<!这|那|近|前|头|好)几年|(?<!这|那|近|前|头|好)几个小时|多少[天年周月]|多少个月|什么时候(?:开始|起|发现|出现)|什么时候(?:就)?(?:有|出|长|疼|发|冒|肿|痒|晕|吐|拉|咳|烧|喘|麻|红|瘦|看不见|看不清|听不见|不舒服|难受|不行)[^，来去做开住]{0,4}的$|从(?:什么时候|哪天|何时)|何时(?:开始|起)|多少时间|持续|^(?:(?:and|so) )?when did (?:you|he|she|it|they)(?: \w+)? *$/,
  severity:
    /\b(?:how (?:bad|severe|strong|intense|painful|high|serious)|how much (?:pain|worse)|how much (?:does|do|did) (?:it|that|this|they) (?:hurt|bother)|out of (?:10|ten)|scale|1 to 10|one to ten|worst|severity|mild|moderate|rate (?:the|your|it))\b|多(?:疼|痛|厉害|严重|重|高|大)|有多|几级|几分|打分|严重(?:吗|程度|不严重)|厉害(?:吗|不厉害)|剧烈|程度|能(?:不能)?忍|受得了|受不受得了|忍得住|扛得住/,
  amount:
    /\b(?:doses?|strength|milligrams?|how many (?:tablets|pills|puffs|of (?:those|them|these)))\b|(?:一[次回顿]|每[次天]|一天)?(?:要|得)?(?:吃|服|用|喷|吸)?了?几[片颗粒口喷]|剂量|怎么吃|\bhow (?:much|heavy|large|big)\b|\b(?:heavy|amount)\b|量(?:大|多|少)|多少(?!天|时间|年|度)|几斤|几倍|多不多/,
  site: /\b(?:where|whereabouts|(?:which|what) (?:part|area|spot|place)|point to|show me where|location|located|localised|localized|exact spot|in the (?:middle|centre|center)(?: of (?:the|your) \w+)?(?: or (?:more |off |just |is it )*(?:to|on|at) (?:the |one |either )?(?:left |right )?sides?)?)\b|(?:用手)?指(?:给我看看?|一下|出来)|哪里|哪儿|部位|位置|哪个地方|什么地方|哪块|哪一块|(?:浑身|全身|满身)(?:上下)?都?(?=.{0,4}还是)|(?<=还是(?:就|只|只是|就是)?)(?:某|[一几])小?[块处片]儿?|具体在/,
  character:
    /\b(?:what (?:kind|sort|type) of|what (?:comes|came|is coming|has come) (?:up|out)|what do you bring up|what (?:is|does|do|are) .{0,25}\b(?:like|look like|feel like)|whats .{0,25}\blike|describe|tell me (?:\w+ ){0,3}about (?:the|your|this|that) (?:pains?|aches?)|sharp|dull|burning|crushing|stabbing|throb(?:s|bing)?|thick|thin|bright|dark|regular|irregular|pulsat\w+|pressing|squeezing|pounding|cramping|tight|aching or|colou?r|consistency|quality|character)\b|什么样|什么感觉|怎么个|疼法|怎么疼|怎样疼|怎么痛|性质|绞疼|刺疼|胀疼|跳疼|跳着疼|隐疼|闷疼|钝疼|压着疼|压榨|针刺|烧灼|[吐拉咳流尿排]的(?:都)?是(?:些)?(?:什么|啥)|颜色|鲜红|暗红|齐不齐|规律|形状|样子|什么形/,
}

const cueEntries = Object.entries(cues) as [AskedAttribute, RegExp][] // the keys of the literal above

/** Finds the attributes that a text in normal form asks for. */
export const findAttributes = (text: string): readonly AskedAttribute[] =>
  cueEntries.flatMap(([attribute, cue]) => (cue.test(text) ? [attribute] : []))

/** A text without the words that ask for attributes. */
export const removeAttributes = (text: string): string =>
  cueEntries.reduce((rest, [, cue]) => rest.replace(cue, ' ').replace(cue, ' '), text)

/** Generic words, which fit any complaint. A question of an attribute and such words is about the last topic. */
const generic = new RegExp(
  [
    String.raw`\b(?:a|an|the|havent|hasnt|hadnt|dont|doesnt|didnt|isnt|arent|wasnt|werent|cant|couldnt|wouldnt|wont|ive|youve|youre|thats|theres|no|never|nor|either|lately|recently|today|yesterday|these days|own|self|experience|experienced|experiencing|suffer|suffered|suffering|suffers|i|you|he|she|it|they|them|me|your|his|her|its|their|this|that|these|those|is|are|was|were|be|been|being|do|does|did|have|has|had|having|of|to|in|on|at|for|from|with|and|or|but|if|so|as|by|any|some|anything|something|all|just|very|really|quite|can|could|would|will|please|what|whats|which|when|where|how|whose|who|than|then|there|here|not|get|gets|getting|got|go|goes|going|come|comes|coming|came|on|off|up|down|over|out|into|now|currently|usually|normally|ever|still|first|exactly|precisely|roughly|about|approximately|actually|pain|pains|painful|ache|aches|aching|hurt|hurts|hurting|sore|problem|problems|trouble|troubles|symptom|symptoms|complaint|thing|things|issue|attack|attacks|episode|episodes|feeling|feel|feels|felt|sensation|discomfort|start|starts|started|starting|begin|begins|began|beginning|last|lasts|lasting|lasted|happen|happens|happening|happened|notice|noticed|tell|say|show|describe|point|think|know|affected|involved|check|checked|checking|like|much|many|long|day|days|week|weeks|month|months|year|years|hour|hours|time|times|more|most|worse|worst|better|bad|anywhere|else|somewhere|one|two|other|place|part|ok|okay|well|also|right|doctor|body|since|ago|constant|same|change|changes|changed|seem|seems|kind|sort|type|rate|scale|zero|ten|give|number|would|say|does|bit|lot|particular|during|through|throughout|while|after|before|until|always|often|every|each|single|towards|both|lets|couple|few|mainly|mostly|normal|typical|average|going)\b`,
    String.raw`\d+`,
    '请问|不舒服|动作|平均|每|傍晚|厉害|严重|重|歪|向|朝|难受|感觉|觉得|症状|问题|情况下|情况|毛病|时候|地方|具体|大概|大约|现在|开始|出现|发生|发作|这次|疼痛|刀割|烧灼|针扎|绞|疼法|姿势|体位|疼|痛|有没有|是不是|会不会|能不能|告诉我|说说|描述|一下|自己|一般|通常|平时|到底|究竟|主要|起来|来|去|了|的|得|地|是|有|会|能|在|这|那|它|个|种|你|我|他|她|吗|呢|吧|啊|呀|到|从|已经|都|也|就|还|又|再|最|很|更|比较|过|着|没|不|和|或|还是|指|用|给|哪|什么|怎么|怎样|样|多|几|天|年|月|周|小时|分|次|点|里|上|下|面|边|让|把|被|要|想|说|看|第一|某|偶尔|伴有|伴随|身体|身上|当时|之前|以来|期间|请|嗯|好|那么|然后',
  ].join('|'),
  'g',
)

/** A text in normal form without generic words. */
export const stripGenericWords = (text: string): string =>
  text.replace(generic, ' ').replace(/ +/g, ' ').trim()

/** Whether a text in normal form holds only generic words, which fit any complaint. */
export const isGeneric = (text: string): boolean => stripGenericWords(text) === ''

const personal =
  /\bwhat time is it\b|\bhow (?:much|heavy|big|tall|old) (?:is|was|are|does|do) (?:it|this|that|you)\b(?! (?:hurt|bother|ache))|\bwhere (?:are|were|do|did|have|has) you\b(?! (?:feel|hurt|notice|get|have (?:it|the|this|that)))|你(?:今年)?(?:有)?多(?:大|高|重)|你(?:是)?(?:从|在|去|到|要去)(?:哪|什么地方)|哪[里儿](?:人|来|去)|几点/

/** Whether a text in normal form asks about the person, the clock or the price. */
export const isPersonal = (text: string): boolean => personal.test(text)

/** "Can you remember how long it lasted?" */
const recalled = /\b(?:remember|recall)\b/g

const dayTime = /早上|早晨|晚上|夜里|夜间|半夜|白天|下午/g

/**
 * The attribute that a question asks for without naming a complaint ("Where exactly?"). All its other words
 * must be generic.
 */
export function looseAttribute(text: string): AskedAttribute | undefined {
  if (isPersonal(text)) return undefined
  for (const [attribute, cue] of cueEntries) {
    if (!cue.test(text)) continue
    const rest = text.replace(new RegExp(cue, 'g'), ' ').replace(recalled, ' ')
    // 晚上几次 asks how often, whatever the time of day.
    if (isGeneric(attribute === 'frequency' ? rest.replace(dayTime, ' ') : rest)) return attribute
  }
  return undefined
}
