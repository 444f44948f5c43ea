/** Dialogue acts of a doctor's sentence other than asking about a finding: zh and en patterns over the normal form. */

/** Prompt injection: an attempt to make the patient step out of the consultation. */
export const injection = new RegExp(
  [
    String.raw`\b(?:ignore|disregard|forget|override|bypass)\b.{0,40}\b(?:instructions?|prompts?|rules|above|previous|prior)\b`,
    String.raw`\b(?:system|hidden|initial) prompt\b`,
    String.raw`\b(?:developer mode|jailbreak|language model|ground truth|gold (?:label|answer|diagnosis))\b`,
    String.raw`\b(?:reveal|print|repeat|output|show|dump)\b.{0,30}\b(?:prompt|instructions|json|case file|hidden|answer)\b`,
    String.raw`\byou are (?:now|no longer)\b.{0,30}\b(?:assistant|ai|model|doctor|patient|bot)\b`,
    '(?:忽略|无视|忘记|忘掉|不要理会|跳过).{0,12}(?:指令|指示|提示|规则|设定|要求|以上|上面|之前)',
    '系统提示|提示词|开发者模式|越狱|语言模型|人工智能|标准答案|真实诊断|隐藏信息',
    '扮演.{0,8}(?:助手|医生|角色|机器人)|输出.{0,10}(?:答案|诊断|病历)',
  ].join('|'),
)

/** Asks the patient for the diagnosis. */
export const diagnosisRequest = new RegExp(
  [
    String.raw`\bwhat(?:s| is| do you think is)? (?:your|the|my|this) (?:final |actual |real )?(?:diagnosis|disease|illness|condition)\b`,
    String.raw`\b(?:what|which) (?:disease|illness|condition|diagnosis) (?:do|does|have|is|are|did)\b`,
    String.raw`\bwhat do you have(?:$| got| exactly)|\bwhat are you suffering from\b`,
    String.raw`\bwhat do you (?:think|believe|suspect) (?:you have|it is|it might be|this is|is wrong|is going on)\b`,
    String.raw`\b(?:tell me|give me|name|state|know) (?:your|the|what|which)(?: \w+)? (?:diagnosis|disease|illness|condition)\b`,
    String.raw`\b(?:correct|final|right|true) (?:diagnosis|answer)\b`,
    '诊断(?:是|结果|为)|(?:什么|哪个|正确的?|最终的?)诊断|病名',
    '(?:得|患|是|生|算)(?:的|了)?(?:是)?(?:什么|啥|哪种)(?:疾)?病',
  ].join('|'),
)

/** Asks about earlier illnesses, which is not a request for today's diagnosis. */
export const history =
  /\b(?:ever|before|previous|past|history|family|relatives)\b|以前|既往|过去|曾经|家里|家族|父母|亲戚|[得患有]过|当时|那时|上次|医院|医生诊断|大夫(?:说|诊断)/

/** Mentions relatives. */
export const family =
  /\b(?:family|relatives?|related to you|blood relations?|kin|parents?|mothers?|fathers?|siblings?|brothers?|sisters?|mums?|moms?|dads?|grandparents?|grandmothers?|grandfathers?|grandmas?|grandpas?|grandads?|granny|gran|aunts?|uncles?|cousins?|rellies|clan|bloodline|household|hereditary)\b|(?<!在)家里(?:的?人|[有还没谁别其哪几是都爸妈父母老长亲也头面那])|家人|家族|父母|亲戚|兄弟|姐妹|爸妈|(?:(?<=[你他她])|(?!..，?[你先别慢]))(?:爸爸|妈妈|爷爷|奶奶|外公|外婆|姥姥|姥爷)|父亲|母亲|亲属|姊妹|哥哥|弟弟|姐姐|妹妹|姐妹|姑姑|舅舅|血亲|近亲|长辈|[上祖老]一?辈|祖上|[你他她][爸妈哥姐弟妹]|爹妈|老爸|老妈|双亲|娘家|婆家|亲人|直系|三代|家老爷子|家老太太|叔叔|伯[父伯]|小姨|姨妈家|[大二小]舅|[表堂][兄哥姐弟妹]|遗传|屋头(?=有|的|其[他它])|家老的/

/** Whether a text asks for the diagnosis of today: not for an earlier one, nor for a relative's. */
export const asksDiagnosis = (text: string): boolean =>
  diagnosisRequest.test(text) && !history.test(text) && !family.test(text)

/** Mentions other people around the patient, in a question whether they are ill too. */
export const others =
  /(?:爱人|老公|老婆|丈夫|妻子|老伴|对象|同事|同学|室友|同屋|邻居|朋友|单位的人|班里|宿舍里?|幼儿园里?|小朋友|同屋|一个屋|一张床|学生|(?<!在)(?:学校|单位)|一[起块]儿?(?:吃饭|吃|玩)的人?|同桌|工友|队友|病友|客人|班上|厂里|公司|小区|村里|店里|隔壁|周围的?人|身边的?人|旁边的?人|同住|住一[起块]|(?<!在)家里|家人|一家)[^你，]{0,8}(?:也|有没有|没有|有人|有谁|谁|都|有)/

/** A relative as observer: followed by a verb of saying or noticing, or by a mention of the patient. */
export const witness =
  /\b(?:family|relatives?|parents?|mother|father|siblings?|brothers?|sisters?|mum|mom|dad)\b.{0,60}\b(?:say|says|said|tell|tells|told|notice[ds]?|complain\w*|hear|heard|comment\w*|mention\w*|report\w*|remark\w*|(?:that|if|of|stop|keep|wake|drag|for) you)\b|(?:家里人|家人|父母|亲戚|兄弟|姐妹|爸妈|爸爸|妈妈|父亲|母亲).{0,12}(?:说|讲|发现|注意到|觉得|抱怨|嫌|听到|听见|看见|看到|提醒|告诉|反映|担心|你)/

/** Open question: leaves the patient free to say what they want. */
export const openQuestion = new RegExp(
  [
    String.raw`\bwhat(?:s| has| is it)? (?:brings|brought|seems|happened|else|can i|could i|can we)\b|\bhow (?:can|may|could) (?:i|we) (?:help|be of|assist)\b|\bwhat(?: has|s)? (?:made|prompted|got|led) (?:you|him|her|them) (?:to )?(?:decide (?:to )?(?:call|ring|phone|contact|come|book|see|make|get)|want to (?:come|see|be seen)|call|ring|phone|contact|come|book|see|make|get in touch)\b|\b(?:did|have) i miss(?:ed)? (?:anything|something)\b|\bwhats (?:up|new|been up)\b|\bwhat (?:would you like|do you want|did you want|are we|shall we|can we) (?:to )?(?:talk(?:ing)?|discuss|speak|chat|see me|go over)(?: to me)?(?: about)?(?: today| first)?$|\bthe main (?:thing|reason|problem|issue)\b|\b(?:talk|take|walk) me through (?:it|this|that|everything|what|how)\b|\bhow (?:are|have) things\b`,
    String.raw`\bwhat(?:s| is| has been| are)? (?:been )?(?:the matter|wrong|the trouble|the problem|troubling|bothering|going on|happening)\b`,
    String.raw`\b(?:what|which|any|other|your|describe the|more about the) (?:other |main |current |new )?(?:symptoms?|complaints?|problems?|concerns?|discomforts?|issues?)\b(?! (?:with (?!it\b|this\b|that\b|these\b)|passing|going|opening|sleeping|swallowing|breathing|walking|hearing|seeing|eating|moving|at (?:work|home)\b|down\b))`,
    String.raw`\b(?:any|some)(?:thing)? else\b|\b(?:any|some) other\b(?= (?:\w+ )?(?:symptoms?|complaints?|problems?|concerns?|discomforts?|issues?|things?|troubles?|changes?|worries|stuff|feelings?|signs?)\b| (?:at|that|you|with|or)\b|$)|\bnothing else\b|\bany(?:thing)? more (?:to|you|symptoms?|problems?)\b|\btell me what (?:(?:youve|you have) (?:noticed|come (?:in )?(?:for|with|about)|been (?:having|feeling))|brings|brought|happened|has (?:happened|been)|is wrong|the (?:problem|matter|trouble) is)\b|\btell me (?:\w+ ){0,3}about (?:your|the|this|that|his|her) (?:bad |sore |poorly )?(?:eyes?|ears?|chest|tummy|belly|skin|legs?|arms?|hands?|head|back|throat|nose|foot|feet|hip|knee)$|\bwhat (?:would you like|do you want|do you need) (?:me to )?help (?:you )?with\b|\btell me (?:more|everything|(?:(?:a (?:little )?bit|a little|some|something) )?(?:more )?about (?:it|this|that|yourself|what))\b|\bwhat do you mean (?:by|when) (?:it|this|that|you say)\b|\b(?:hear|know) (?:a (?:bit|little) )?more about (?:it|this|that|them|whats?|how)\b|\b(?:say|tell me) (?:a (?:bit|little) )?more\b`,
    String.raw`\bhow (?:are|have|do|did) you (?:been )?(?:feel|feeling|doing|today|been)\b(?! about (?:that|this|it|the plan))|\bhow is everything\b`,
    String.raw`\bwhat (?:are|have|do) you (?:been )?(?:feel|feeling|experiencing|experienced|noticed|notice)\b`,
    String.raw`\bin your own words\b|\b(?:reason for|why) (?:your visit|you came|you are here|are you here)\b|^(?:(?:ok|okay|yeah|yes|right|please|and|so) )*go on$`,
    String.raw`\banything (?:that )?(?:bothers|bothering|you want|you would like|i should know|to add)\b`,
    '(?:哪里|哪儿|怎么|什么|哪些)(?:地方)?(?:感觉|觉得)?(?:不舒服|不适|难受|不对劲|问题|症状)',
    '怎么(?:又)?(?:不好|不行|难过|不对劲|不得劲)了?(?:呢|呀|啊)?$|^(?:来|坐|请坐|今天|又)*咋(?:了|啦|回事)|哪(?:儿|里)?不(?:得劲|对劲|好受|自在)|主要(?:是)?(?:的)?(?:不舒服|不适|难受|问题|症状)|是什么[^，]{0,3}(?:让|叫|使)你(?:来|想来)|(?:什么|啥)(?:事情?|风)?(?:把你|让你)[^，]{0,3}来',
    '有(?:什么|啥)(?:我|我们)?(?:可以|能)(?:帮|为)|(?:什么|啥|哪些).{0,2}(?:困扰|烦恼|苦恼)|因为(?:什么|啥).{0,4}来|来(?:医院|门诊|这[里儿]|看病).{0,4}(?:什么|啥)(?:问题|事|原因)|(?:什么|啥)(?:事儿?|原因|毛病)[^，]{0,4}(?:来|看病)|怎么(?:个)?(?:不舒服|难受|不好受|不得劲)',
    '(?:来)?看(?:什么|啥)(?:病|问题)?(?:的)?$|为什么来|怎么了|怎么啦|怎么回事|什么情况|感觉怎么样|(?:其他|其它|别的|另外)(?:的)?(?:什么)?(?:不舒服|不适|症状|情况|问题)',
    '还有(?:没有)?(?:什么|哪些|别的|其他|其它|漏的|(?:要)?补充)|(?:还|别的|其他)(?:要|想)(?:补充|说)|补充(?:的|一下|吗)',
    '(?:生病|发病|得病|整个|这次).{0,4}(?:经过|过程)',
    '(?:具体|详细|仔细)(?:地)?(?:说|讲|描述|情况|谈)|(?:说说|讲讲|谈谈|描述一下|介绍一下)(?:你)?(?:的|这次|现在)?(?:病情|情况|症状|经过|不舒服)?(?:看|吧)?$|接着说|继续说',
  ].join('|'),
)

/** Asks for trouble of old, with the words of an open question: 以前肺上有过什么问题. */
export const pastTrouble =
  /(?:以前|过去|既往|曾经|原来|从前|小时候)[^，]{0,10}(?:什么|啥|哪些)|[有得出]过(?:什么|啥|哪些)/

/** Asks when it began or what set it off, of "your symptoms" as a whole. */
export const wholeIllness =
  /什么(?:情况|时候|姿势|体位).{0,6}(?:加重|缓解|减轻|轻|重|厉害|好[一些点])|\bwhen (?:did|was|were|do|have)\b.{0,40}\b(?:start\w*|begin|began|begun|come on|first)\b|\bhow long\b|\bsince when\b|\bset (?:\w+ ){1,3}off\b|\b(?:controlling|relationship|related)\b/

/** Asks whether the patient has a named illness. */
export const hasIllness =
  /\b(?:do|did|have|has|had|are|is|were|any|history of|suffer\w*|diagnosed)\b|有(?:没有)?|得|患/

/** A sentence that goes on about the person of the one before: "and any …?", "has anyone …?". */
export const continues =
  /^(?:(?:and|or|so|ok|okay) )?(?:any\b|anyone|anybody|is there|has any|do they|are they|have they)|^(?:有没有|还有|有|有人|他们|都|身体)/

const commonWord =
  /\b(?:the|a|an|i|you|your|he|she|they|it|we|is|are|was|were|do|does|did|have|has|had|to|of|in|on|at|for|with|and|or|what|when|where|how|why|who|which|any|been|can|could|would|will|this|that|there)\b/g

/** Whether a text is made of words: at least two common ones, or three Han characters. */
export const isWorded = (text: string): boolean =>
  (text.match(commonWord)?.length ?? 0) >= 2 || /(?:\p{Script=Han}.*){3}/u.test(text)

/** Invites the patient's own questions. */
export const invitesQuestions =
  /(?:还|有|其[他它]|别的|什么).{0,6}(?:想(?:要)?(?:了解|知道|问)|要问|疑问|疑虑|不明白|不清楚|需要我(?:解释|说明|讲))/

/** Asks about an examination that was done. */
export const pastExam =
  /(?:做|查|拍|照|测|量|验|化验|检查|抽|开)[^过了]{0,10}[过了].{0,10}(?:吗|没有?|么|什么|哪些|怎么样)$|(?:监测|控制|测).{0,4}(?:吗|多少|怎么样|如何)$|(?:检查|化验).{0,4}正常吗$/

/** Puts something aside, or repeats what the patient said, before the question. */
export const background =
  /(?:先|暂时|暂且)(?:不[说管提谈问论]|放)|(?:不[说提管论]|撇开|抛开|放一[放边])(?:了)?$|^(?:那|嗯|好|好的)?(?:你|刚才|刚刚|前面|之前)+(?:已经)?(?:说|提到|讲|提)|不是(?:要|想)?(?:问|说)/

/** Introduces examples, which only explain what came before. */
export const example = /\b(?:such as|for example|for instance|like when)\b|比如|例如|譬如|以至|甚至/

/** Excludes one thing and asks for the rest: "apart from the fever, …". */
export const exclusion =
  /\b(?:apart from|aside from|other than|besides|except(?: for)?|not counting|leaving (?=(?:the|your|that|this)\b)|forget(?:ting)? (?=(?:about|the|your|that|this)\b)|never mind (?=(?:the|your|that|this)\b)|without the|the opposite of(?= (?:feeling|being|that)\b))\b|除了|除此|之外|以外/

/** Mentions examinations in general. */
export const examTalk =
  /\b(?:tests?|scans?|x ?rays?|ultrasound|blood work|bloods|lab|labs|biopsy|swab|ct|mri|imaging|examine you|examination)\b|检查|化验|拍片|抽血|超声|验血|验尿|穿刺|活检|核磁/

/** Courtesy: kind words that ask nothing. */
export const courtesy =
  /\b(?:hello|hi|good (?:morning|afternoon|evening|day)|thanks|thank you|ok|okay|i see|i understand|sorry|take care|relax|dont worry|alright|all right|got it|welcome|nice to meet you|goodbye|bye|of course|(?:repeat|say) that(?: again)?|catch (?:that|it))\b|[您你]好|谢谢|好的|明白|了解|知道了|别担心|不用担心|别着急|别紧张|请坐|请进|再见|辛苦|没关系|理解你|特别理解|能理解|抱歉|早上好|下午好|晚上好|^(?:嗯|好|哦)+$/

/** Advice: tells the patient what to do, or what will be done. */
export const advice =
  /\b(?:you (?:should|need to|must|can|could|ought)|i (?:recommend|suggest|advise|would like you to|want you to|am going to|will|ll)|lets|try to|make sure|take (?:this|these|two|one)|prescri\w+|come back|follow up)\b|建议|应该|需要(?:注意|休息|住院)|注意(?:休息|饮食|保暖)|多(?:喝水|休息)|给[你您](?:开|安排)|按时|回去(?:后|以后)?|复诊|我们(?:先|来|会)|我会/

/** Where what is excluded ends. */
export const excludedEnd =
  / (?:any|anything|have|has|do|does|did|are|is|what|which|anyone|how)\b|(?:还有|有没有|有什么|还|有)/

/** Requests information without the form of a question: "tell me …". */
const request =
  /\b(?:tell me|show me (?:where|which|with)|describe|let me know|explain|talk about|walk me through|i(?:d| would)? (?:like|want|need|love) to (?:know|hear|ask|understand|check(?! (?:your|his|her)\b))|i (?:wonder|was wondering)|i(?: a)?m (?:wondering|asking|curious|guessing|assuming)|i (?:take it|assume|gather|presume|suppose|guess|dont suppose)|(?:i|we) rule out|i (?:mean|meant) (?:the|your|whether|if|do|did|are|is)\b|wondering (?:if|whether|about)|ask(?:ing)? (?:you )?(?:about|whether|if)|whether you)\b|说说|讲讲|谈谈|描述(?!的)|告诉我|说一下|讲一下|谈一下|介绍|(?:想|要)(?:知道|了解|问)|想听你|问一下|问问|请问/

/** Where a second question begins within a clause. */
export const nextQuestion =
  / (?:and|or|but|also|and also) (?=(?:(?:do|does|did|have|has|had|is|are|am|was|were|can|could|would|will|how|what|when|where|which) (?:you|your|youre|he|his|she|her|they|their|there|it|this|that|the|any|long|often|much|many|bad|far|well)|(?:does|did|has|have|is|are|was|were) (?:anything|anyone|anybody|everything|someone|these|those)|(?:what|where|when|which|how|who) (?:is|are|was|were|do|does|did|have|has|makes?|brings?|helps?|colou?r|kind|sort|side|severe|old))\b)|(?<=^(?:(?:sorry|no|well|ok) )*i (?:meant?|was asking|am asking|was thinking of)\b.{1,30}) (?=(?:have|did|do|are|were|is|has) (?:you|she|he|it|there)\b)/g

const tags = new RegExp(
  [
    `^(?:(?:or|and|but|so) )?(?:is|isnt|are|arent|was|wasnt|were|werent|do|dont|does|doesnt|did|didnt|has|hasnt|have|havent|had|hadnt|can|cant|could|would|wouldnt|will|wont) (?:it|you|yours?|he|she|they|there|that|this|not)(?: (?:you|yours|that|so|too|like that|the case|ok|okay|all right|alright|use to|used to|ever|in the past))*$`,
    `^(?:right|correct|ok|okay|yes|no|or not|would you say|is that (?:right|so|true|correct|ok|okay)|(?:do|would) you (?:know|think|remember|happen to know)|(?:have|did|had) you (?:noticed?|seen)(?: (?:that|it|at all))?|(?:has|did|have) (?:anyone|anybody|other people|people|your (?:wife|husband|partner|family|son|daughter)) (?:else )?(?:noticed?|seen|said so|mentioned|commented)(?: (?:it|that|this|anything))?(?: at all)?|can you (?:remember|recall|tell)|(?:as far as|if|that) you (?:know|remember|can remember|can tell)(?: of)?|is it like that|is it so|how about you|what about you|and you)$`,
    '^(?:是吗|是吧|对吗|对吧|对不对|是不是|是这样吗|有吗|有没有|会吗|会不会|你呢|你也是吗|你会吗|你有吗|你是吗|你是不是|好吗|可以吗|行吗|好不好|行不行|你(?:也|会|是)?(?:不)?(?:会|是)?(?:也)?(?:这样|那样)吗?)$',
  ].join('|'),
)

/** Whether a clause is a tag question, which only asks to confirm the clause before it. */
export const isTag = (clause: string): boolean => tags.test(clause)

/** A statement of doctors about themselves or about people in general. */
export const doctorStatement =
  /^(?:(?:so|well|now|ok|okay|and|right|yes|oh) ){0,2}(?:i|im|ive|ill|id|we|were|weve|well|lets|let (?:me|us)|my|our|plenty of|lots of|a lot of|many) |^(?:好|好的|嗯|那|那么|所以|现在)?(?:我|咱(?!.*(?:吗|呢|什么|怎么|哪|几|多久))|让我)/

/** A declarative sentence or an instruction, where no question mark says otherwise. */
export const statement = new RegExp(
  [
    String.raw`^(?:(?:so|well|now|ok|okay|and|but|right|yes|oh|ah|then) ){0,2}(?:i|im|ive|ill|id|we|were|weve|lets|let|you|youre|youve|youll|your|my|our|he|she|they|hes|shes|that|thats|it|its|these|this|there|plenty|lots|many|most|thank|thanks|please|take|a lot)\b`,
    // "What I think we should do", but not "what were you doing".
    String.raw`^(?:(?:so|well|now|ok|okay|and|but|right|yes|oh|ah|then|that is) ){0,3}what (?:i|we|id|wed|ill|im|weve|ive|you (?:can|could|need|should|want)|they|usually|normally)\b(?! (?:mean|meant|want to know|wanted to know|was asking|am asking))`,
    String.raw`^(?!(?:and|any|no|what|when|where|how|which|who|why) )\w+(?: \w+)* (?:is|are|was|were|will|would|can|had|has)\b(?! (?:you|your|there))`,
    '^(?:好的?|嗯|哦|那)?(?:所以|看来|原来|难怪|怪不得|刚才|我|咱们(?!宝|孩)|谢谢|感谢|多谢|很多人|不少人|这个季节)',
    String.raw`^(?:(?:just|now|please|and|ok|okay|then) ){0,2}(?:open|close|breathe|take|lie|sit|stand|look|turn|roll|lift|raise|hold|relax|stay|keep|put|stick|follow|press|push|squeeze|come|wait|try|stop|bend|drink|eat|rest|avoid|use|call|go|dont|do|be)\b| for me$`,
    '^(?:请(?!问)|来|再|先|现在)?(?:张|深吸|吸气|呼气|躺|坐|站|抬|转|看着|放松|闭|睁|伸|举|弯|侧|咽一下|咳一下|咳两声|别|不要|多(?![少久长大高远重])|少)',
    '^你(?:刚才|已经|说的)|(?:知道了|明白了|记下了)|谢谢|我们|一定|肯定',
  ].join('|'),
)

/** Contains a verb of telling but requests no information: thanks, or announces an explanation. */
const telling =
  /\b(?:thank|thanks|let me (?:explain|describe|talk)|(?:ill|i will|i can|going to|i should) (?:explain|describe|talk|tell)|ask (?:you )?(?:just )?(?:a (?:few|couple(?: of)?)|some|one or two)(?: \w+){0,2} questions?(?! about))\b|谢谢|感谢|问完|问的就(?:是)?这些|问得差不多|我(?:们)?(?:还|再|先|想|需要|要|得|来|也)*(?:问问?|了解)(?:你|一下)?(?:一些|一点|几个|些|点|一下)(?:别的|其他|一般|基本)?(?:的)?(?:情况|问题|事儿?)?$|我(?:来|先|再|就)?(?:给你|跟你)?(?:说|讲|介绍|描述)/

/** Whether a sentence requests information without the form of a question. */
export const isRequest = (sentence: string): boolean =>
  request.test(sentence) && !telling.test(sentence)

/** An offer, or an instruction to the patient, in the form of a question. */
export const offer = new RegExp(
  [
    String.raw`^(?:(?:so|well|now|ok|okay|and) ){0,2}(?:can|could|may|shall|should|would it be (?:ok|okay|all right) if|is it (?:ok|okay|all right) if|do you mind if) (?:i|we)\b(?! (?:just |also |please |quickly )*(?:ask|know|(?:double )?check|clarify|confirm|find out|rule out))`,
    String.raw`^(?:can|could|would|will) you (?:just |please ){0,2}(?:mind|sit|lie|stand|turn|roll|lift|take off|hold|come|wait|sign|pass|spell|fill)\b|\bfor me$|\bwould you like\b|\bshall i\b`,
    '^(?:那|那么|现在|要不要|需不需要|需要|要|接下来)?我(?:们)?(?:来|先|再|能|可以|可不可以|能不能)?(?:给|帮|看|听|摸|按|量|检查|做|抽|开)|^(?:麻烦|请(?!问)|劳驾)',
  ].join('|'),
)

const hanCue =
  /(?:吗|呢|没有|没|不|么|否)$|有没有|是不是|是否|会不会|能不能|可不可以|有无|(?<!不)是.{1,14}还是|(\p{Script=Han}{2,})[^，。]{0,6}还是[^，。]{0,8}\1|(?:早上|上午|白天|左|上面|持续|先|干|走路|坐着|站着|空腹|饭前)[^，。]{0,4}还是|^还是(?:说|只|就|快|老|也|一直|整|刚|别的|差不多|[^，]{1,8}的时候)|[了就]还是差不多|(\p{Script=Han})[不没]\2/u
/** Words that lead into a sentence: "And so, …", "Right, just …". */
const lead = `^(?:(?:and|but|also|so|then|now|ok|okay|well|hi|hello|please|or|right|yeah|yes|no|alright|great|fine|good|lovely|oh|just|sure|sorry|because|cause) ){0,4}`
const latinCue = new RegExp(
  [
    String.raw`${lead}(?:do|does|did|have|has|had|is|are|am|was|were|can|could|would|will)(?:nt)? (?:you|your|he|his|she|her|they|their|there|it|this|that|these|those|the|any|anyone|anybody|anything|someone|somebody|something|everything|i)\b`,
    // No sentence but a question begins with these verbs.
    String.raw`${lead}(?:does|did|has|is|are|was|were)(?:nt)? (?!to\b|because\b)\w`,
    String.raw`${lead}(?:any|anyone|anybody|anything|anywhere|ever)\b`,
  ].join('|'),
)
const whWord = new RegExp(
  String.raw`${lead}(?:what|whats|when|where|whereabouts|which|who|whos|why|how|hows|whose)\b|什么(?!都)|多久|多长|哪|怎么|怎样|(?<!过|这|那|近|前|头|好)几[天次个年点]|多少|多大|谁(?!都)|为何|如何`,
)

/** Whether the wording of a clause makes it a question. */
export const isQuestionClause = (clause: string): boolean =>
  hanCue.test(clause) || latinCue.test(clause)

/** Whether a sentence asks with an interrogative word; needs no question mark. */
export const hasQuestionWord = (sentence: string): boolean =>
  whWord.test(sentence) && !statement.test(sentence)

const expectsYes =
  /\b(?:ok|okay|fine|(?<!\b(?:as|just|very) )well|normal|normally|all right|alright|good|properly|regular|regularly|clear|healthy|coping|managing|independent|up to date)$|\b(?:hows|how is|how are|how has|how have|how was|hows about|what about)\b|\b(?:fit and well|passing urine|opening your bowels|eating and drinking|drinking (?:plenty|enough|fluids))\b|(?:正常|还好|好|顺利|规律|健康|清楚|可以|齐全|按时|成形|通畅)(?:吗|不|吧|么)$|怎么样|怎样|如何$|咋样|好不好$|正不正常|情况呢$/

const whenWords =
  /(?: (?:at the moment|right now|now|today|these days|at all|generally|otherwise|lately|recently|for you|overall))+$/

/** Whether a question asks if something is in order, so that a healthy patient says yes. */
export const asksIfInOrder = (text: string): boolean => expectsYes.test(text.replace(whenWords, ''))

const ability =
  /(?<![可只])能(?!不能喝|是|有)[^，]{0,8}(?:吗|么|不)$|[\p{Script=Han}](?:得|不)(?:上|动|了|紧|严|拢|开|起来|下去|出来|住)(?:吗|么|不|没有?)?$|(\p{Script=Han})得[上动了紧严拢开住](?:还是)?\1不/u

/** Whether a Chinese question asks if something can be done, which nobody answers with 没有过. */
export const asksAbility = (text: string): boolean => ability.test(text)
