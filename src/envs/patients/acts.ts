/** What a doctor's sentence does besides asking about a finding: patterns over the normal form, zh and en. */

/** Attempts to make the patient step out of the consultation. */
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

/** Asks about earlier illnesses, which is no request for today's diagnosis. */
export const history =
  /\b(?:ever|before|previous|past|history|family|relatives)\b|以前|既往|过去|曾经|家里|家族|父母|亲戚|[得患有]过/

/** Speaks of relatives. */
export const family =
  /\b(?:family|relatives?|parents?|mother|father|siblings?|brothers?|sisters?|household|hereditary)\b|家里|家人|家族|父母|亲戚|兄弟|姐妹|爸妈|遗传/

/** Leaves the patient free to say what they want. */
export const openQuestion = new RegExp(
  [
    String.raw`\bwhat (?:brings|brought|seems|happened|else|can i|could i)\b|\bhow can i help\b`,
    String.raw`\bwhat(?:s| is| has been| are)? (?:been )?(?:the matter|wrong|the trouble|the problem|troubling|bothering|going on|happening)\b`,
    String.raw`\b(?:what|which|any|other|your|describe the|more about the) (?:other |main |current |new )?(?:symptoms?|complaints?|problems?|concerns?|discomforts?|issues?)\b`,
    String.raw`\b(?:any|some)(?:thing)? (?:else|other|more)\b|\btell me (?:more|everything|about (?:it|this|that|yourself|what))\b`,
    String.raw`\bhow (?:are|have|do|did) you (?:been )?(?:feel|feeling|doing|today|been)\b|\bhow is everything\b`,
    String.raw`\bwhat (?:are|have|do) you (?:been )?(?:feel|feeling|experiencing|experienced|noticed|notice)\b`,
    String.raw`\bin your own words\b|\b(?:reason for|why) (?:your visit|you came|you are here|are you here)\b|\bgo on\b`,
    String.raw`\banything (?:that )?(?:bothers|bothering|you want|you would like|i should know|to add)\b`,
    '(?:哪里|哪儿|怎么|什么|哪些)(?:地方)?(?:感觉|觉得)?(?:不舒服|不适|难受|不对劲|问题|症状)',
    '怎么了|怎么啦|怎么回事|什么情况|感觉怎么样|(?:其他|其它|别的|另外)(?:的)?(?:什么)?(?:不舒服|不适|症状|情况|问题)',
    '还有(?:没有)?(?:什么|哪些|别的|其他|其它)|(?:还|别的|其他)(?:要|想)(?:补充|说)|补充(?:的|一下|吗)',
    '(?:具体|详细|仔细)(?:地)?(?:说|讲|描述|情况|谈)|(?:说说|讲讲|谈谈|描述一下|介绍一下)(?:您|你|看|病情|情况|症状|$)|接着说|继续说',
  ].join('|'),
)

/** Sets one thing aside to ask for the rest: "apart from the fever, …". */
export const exceptFor =
  /\b(?:apart from|aside from|other than|besides|except)\b|除了|除此|之外|以外/

/** Speaks of examinations in general. */
export const examTalk =
  /\b(?:tests?|scans?|x ?rays?|ultrasound|blood work|bloods|lab|labs|biopsy|swab|ct|mri|imaging|examine you|examination)\b|检查|化验|拍片|抽血|超声|验血|验尿|穿刺|活检|核磁/

/** Kind words that ask nothing. */
export const courtesy =
  /\b(?:hello|hi|good (?:morning|afternoon|evening|day)|thanks|thank you|ok|okay|i see|i understand|sorry|take care|relax|dont worry|alright|all right|got it|welcome|nice to meet you|goodbye|bye|of course)\b|[您你]好|谢谢|好的|明白|了解|知道了|别担心|不用担心|别着急|别紧张|请坐|请进|再见|辛苦|没关系|抱歉|早上好|下午好|晚上好|^(?:嗯|好|哦)+$/

/** Tells the patient what to do, or what will be done. */
export const advice =
  /\b(?:you (?:should|need to|must|can|could|ought)|i (?:recommend|suggest|advise|would like you to|want you to|am going to|will|ll)|lets|try to|make sure|take (?:this|these|two|one)|prescri\w+|come back|follow up)\b|建议|应该|需要(?:注意|休息|住院)|注意(?:休息|饮食|保暖)|多(?:喝水|休息)|给[你您](?:开|安排)|按时|回去(?:后|以后)?|复诊|我们(?:先|来|会)|我会/

/** Asks without a question's form. */
export const request =
  /\b(?:tell me|describe|let me know|explain|talk about|walk me through|i(?:d| would)? (?:like|want|need|love) to (?:know|hear|ask|understand)|i am (?:wondering|asking|curious)|im (?:wondering|asking|curious)|wondering (?:if|whether|about)|ask(?:ing)? (?:you )?(?:about|whether|if)|whether you)\b|说说|讲讲|谈谈|描述|告诉我|说一下|讲一下|谈一下|介绍|(?:我|还)?(?:想|要)(?:知道|了解|问|听)|问一下|问问|请问/

const hanCue =
  /(?:吗|呢|没有|没|不|么|否)$|有没有|是不是|是否|会不会|能不能|可不可以|有无|(\p{Script=Han})[不没]\1/u
const latinCue =
  /^(?:(?:and|but|also|so|then|now|ok|okay|well|hi|hello|please) ){0,2}(?:(?:do|does|did|have|has|had|is|are|am|was|were|can|could|would|will) (?:you|your|he|his|she|her|they|their|there|it|this|that|these|the|any|anyone|anything|someone|i)\b|any\b|ever\b)/
const whWord =
  /^(?:(?:and|but|also|so|then|now|ok|okay|well|hi|hello) ){0,2}(?:what|whats|when|where|which|who|why|how|whose)\b|什么|多久|多长|哪|怎么|怎样|几[天次个年点]|多少|多大|谁|为何|如何/

/** Whether a clause is a question by its own wording. */
export const isQuestionClause = (clause: string): boolean =>
  hanCue.test(clause) || latinCue.test(clause)

/** Whether a sentence asks with an interrogative word, without any mark. */
export const hasQuestionWord = (sentence: string): boolean => whWord.test(sentence)
