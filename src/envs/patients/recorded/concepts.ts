/**
 * What questions and recorded sentences are about, in both languages: kinds of question ("since when?"), parts of a
 * history ("allergies") and symptoms. Two wordings of one question share a concept where they share no word.
 */
import type { RecordTopic } from '../../../case.js'
import { wordStems } from '../../../text/word-stems.js'

/** Kinds of question that ask how something is: they can be asked of any symptom. */
const aspects: Readonly<Record<string, RegExp>> = {
  onset:
    /\bhow (?:long (?:ago|has|have|had|did|is|was|were|you|since|for)|many (?:days|weeks|months|hours|years) (?:ago|has|have|is|was|did|since|now|you|were))|\bhow long\b(?! d(?:oes|o|id)\b)|\bwhen (?:did|was|were|do you (?:think )?it|exactly did|it)\b.{0,30}(?:start|begin|beg[au]n|come on|first|notice|happen|appear)|\bsince when\b|\bfirst (?:notice|start|begin)|\bstart(?:ed)?\b.{0,20}\?|\bhow many days\b|(?<!每次.{0,4})多久(?!.{0,3}(?:一次|发作一))|(?<!每次.{0,4})多长时间(?!.{0,3}(?:一次|发作一))|(?<!每次.{0,4})几天|几个?[月年周]|(?:什么|啥)时候(?!.{0,6}(?:会|更|加重|厉害))|何时|哪天|[从打]哪/,
  duration:
    /\bhow long (?:does|do|did (?:it|they) last)|\blast(?:s|ing)? each|每次.{0,6}(?:多久|多长|持续)/,
  course:
    /\b(?:better or worse|worse or better|getting (?:better|worse)|improv(?:ed|ing)|changed? (?:since|over)|worsen|progress)|加重|好转|缓解(?:了|没|吗)|变化|越来越|好点|好些|减轻/,
  frequency:
    /\bhow (?:often|frequent|many times)|\b(?:all the time|come and go|comes and goes|constant(?:ly)?|intermittent|on and off)\b|多久一次|多长时间(?:发作)?一次|几次|多少次|一阵一阵|一直(?:这样|疼|有|都)|持续(?:性|的还是)|间断|经常|频繁/,
  severity:
    /\bhow (?:bad|severe|strong|painful|much does it)|\b(?:severe|scale (?:of|from)|out of ten|unbearable)\b|严重(?:吗|不|么)|厉害(?:吗|不|么)|程度|几分|重不重/,
  place:
    /\b(?:where(?:abouts)?|which (?:part|side|area|place|eye|ear|leg|arm))\b.{0,40}|\bshow me where|哪个?(?:地方|部位|位置|儿疼|里疼|边|侧)|什么(?:地方|部位|位置)|部位|哪块/,
  character:
    /\bwhat (?:is|does|was|kind|sort|type).{0,30}(?:like|pain|feel|cough)|\b(?:describe|sharp|dull|burning|throbbing|stabbing|cramp(?:ing|y)?)\b|怎么个?疼|怎样的疼|什么样的?(?:疼|痛|感觉)|刺痛|胀痛|绞痛|隐痛|疼法|怎么疼/,
  spread:
    /\b(?:spread|radiat\w*|move(?:s|d)? (?:anywhere|elsewhere|to)|travels? (?:to|anywhere))|放射|串|窜|牵扯|扩散/,
  trigger:
    /\b(?:trigger\w*|set (?:it|this) off|bring(?:s)? it on|cause[ds]? (?:it|this)|worse (?:when|after|if|at|with)|make(?:s)? (?:it|this|the \w+) worse|aggravat\w*|linked to|related to|after (?:eating|meals|food))\b|诱因|原因(?:吗|引起)|什么情况下|有关(?:系)?|饭前|饭后|加重的因素|怎么引起|为什么会/,
  relief:
    /\b(?:make(?:s)? (?:it|this|the \w+) better|relie[fv]\w*|ease[sd]?|help(?:s|ed)? (?:it|with|the|at all)|did (?:it|the \w+|that|they) help|any (?:effect|better))\b|怎么样?(?:能|会)?(?:缓解|好|减轻)|(?:有|没有?)(?:什么)?(?:效果?|用)(?:吗|没|么)|效果|好转没/,
  before:
    /\b(?:had (?:this|it|anything like (?:this|that)|similar)|happened (?:before|to you before)|ever happened|in the past|previous(?:ly)?|first time|(?:this|it) before)\b|以前(?:有过|也|出现|发作|得过这)|之前(?:有过|也|出现|发作)|第一次|有过(?:这种|类似|同样)|发作过/,
  night: /\b(?:at night|night-?time|overnight|wake (?:you|up))\b|晚上|夜里|夜间|半夜/,
  meals: /\b(?:meals?|eating|after food|empty stomach|hungry)\b|吃饭|饭[前后]|进食|空腹|饿/,
  amount: /\bhow (?:much|many)\b|多少|量大|量多/,
  colour: /\b(?:colou?r|what do (?:your|the) \w+ look)\b|颜色|什么色|什么样子/,
}

/** Symptoms and everyday functions. */
const symptoms: Readonly<Record<string, RegExp>> = {
  fever:
    /\b(?:fever\w*|temperature|febrile|3[789](?:\.\d)?|hot to touch)\b|发[烧热]|体温|高烧|低烧|退烧|烧不烧/,
  chill: /\b(?:chill\w*|shiver\w*|rigors?)\b|寒战|畏寒|怕冷|打颤|发冷|发抖/,
  cough: /\bcough\w*|咳/,
  phlegm: /\b(?:phlegm|sputum|mucus|bringing up)\b|痰/,
  nose: /\b(?:runny nose|nose|nasal|sneez\w*|congest\w*)\b|鼻|喷嚏/,
  throat: /\b(?:throat|swallow\w*|hoarse\w*|tonsil\w*)\b|嗓子|咽|喉|扁桃/,
  breath: /\b(?:breath\w*|wheez\w*|suffocat\w*)\b|喘|气[短急促]|憋气|呼吸困难|上不来气|呼吸/,
  chest: /\b(?:chest)\b|胸/,
  heart: /\b(?:heart|palpitation\w*|racing)\b(?!burn)|心[慌悸跳]|心脏/,
  headache: /\b(?:headaches?|head (?:hurt|ache|pain)\w*|migraine)\b|头[疼痛]/,
  dizzy: /\b(?:dizz\w*|vertigo|light-?headed|faint\w*|giddy)\b|头晕|眩晕|晕/,
  nausea: /\b(?:nause\w*|queasy|feel(?:ing)? sick)\b|恶心|反胃|想吐/,
  vomit: /\b(?:vomit\w*|throw(?:n|ing)? up|threw up|been sick)\b|呕|吐(?!痰)/,
  belly:
    /\b(?:(?:abdom\w*|belly|stomach|tummy|epigastr\w*)(?:[- ]?(?:pain|ache|cramp\w*))?|stomachache)\b|肚子|腹|胃(?!口)|肚脐/,
  pain: /\b(?:pain\w*|hurt\w*|ach(?:e|es|ing|y)|sore(?:ness)?|tender\w*)\b|疼|痛/,
  bloat:
    /\b(?:bloat\w*|disten\w*|gassy|gas|flatulen\w*|fart\w*|gurgl\w*|rumbl\w*)\b|胀|排气|放屁|咕噜/,
  burp: /\b(?:burp\w*|belch\w*|hiccup\w*)\b|打嗝|嗳气/,
  reflux: /\b(?:heartburn|acid|reflux|sour|regurgitat\w*)\b|反酸|烧心|返酸|泛酸|吐酸/,
  diarrhoea:
    /\b(?:diarrh\w*|loose (?:stools?|motions?)|watery stools?|the runs)\b|拉肚子|腹泻|稀便|拉稀|拉水/,
  constipation: /\b(?:constipat\w*|hard stools?|dry stools?)\b|便秘|解不出|排便困难|大便干/,
  stool:
    /\b(?:stools?|bowels?|poo\w*|motions?|toilet|defecat\w*|f(?:a)?eces)\b|大便|排便|大小便|便(?!秘)|二便/,
  blood:
    /\b(?:blood\w*|bleed\w*|bled)\b(?! (?:pressure|test|sugar|count|work))|血(?!压|糖|常规|脂|小板|型|栓|红)/,
  black: /\b(?:black|tarry|melena)\b|黑便|发黑|柏油|黑色/,
  urine: /\b(?:urin\w*|pee\w*|passing water|wee|bladder)\b|小便|尿|解手/,
  appetite:
    /\b(?:appetite|eating (?:well|less|ok\w*|normally)|food intake|eat much)\b|胃口|食欲|吃饭(?:怎么样|好|行|正常)|饭量|纳差|饮食(?:怎么样|正常|尚可|可)/,
  weight: /\b(?:weight|slimmer|thinner)\b|体重|消瘦|瘦|公斤/,
  sleep: /\b(?:sleep\w*|slept|insomnia|asleep)\b|睡|失眠|入睡/,
  tired:
    /\b(?:tired\w*|fatigue\w*|weak\w*|exhaust\w*|lethargic|energy|worn out)\b|乏力|没力|没劲|无力|疲[劳倦惫]|累/,
  sweat: /\bsweat\w*|汗/,
  skin: /\b(?:rash\w*|itch\w*|skin|spots|hives|blister\w*|pimples?)\b|疹|痒|皮肤|红斑|疙瘩/,
  swelling: /\b(?:swell\w*|swollen|lumps?|oedema|edema|puffy)\b|肿/,
  joint: /\b(?:joints?|knees?|hips?|ankles?|wrists?|elbows?|shoulders?)\b|关节|膝|肩/,
  back: /\b(?:back (?:pain|ache)|backache|lower back|spine)\b|腰|后背|背/,
  eye: /\b(?:eyes?|vision|sight|see(?:ing)? (?:double|blurred))\b|眼|视力|视物/,
  ear: /\b(?:ears?|hearing|tinnitus)\b|耳/,
  thirst: /\b(?:thirst\w*|dry mouth)\b|口渴|口干|喝水/,
  mood: /\b(?:mood|depress\w*|anxi\w*|stress\w*|worried|nervous|low|irritable|temper)\b|情绪|心情|压力|焦虑|抑郁|急躁|脾气/,
  menses: /\b(?:periods?|menstru\w*|menses|cycle)\b|月经|例假|经期|经量|痛经/,
  pregnancy: /\b(?:pregnan\w*|expecting a baby)\b|怀孕|妊娠/,
  tests: /\b(?:tests?|scans?|examin(?:ed|ations?)|checked|results?)\b|检查|化验|复查|查过/,
  gastroscopy: /\b(?:gastroscop\w*|upper endoscop\w*|endoscop\w*)\b|胃镜/,
  colonoscopy: /\bcolonoscop\w*|肠镜/,
  imaging: /\b(?:x-?rays?|ultrasound|ct|mri|b-scan)\b|拍片|胸片|片子|b超|彩超|超声|\bct\b|核磁/,
  bloodtest: /\b(?:blood (?:tests?|work|count)|routine blood)\b|血常规|抽血|验血|血化验/,
  ecg: /\b(?:ecg|ekg|electrocardiogram)\b|心电图/,
  seen: /\b(?:seen (?:a|another|any) doctor|been to (?:a|the|another) (?:doctor|hospital|clinic)|other (?:doctors?|hospitals?)|diagnosed)\b|别的医院|其他医院|看过(?:医生|大夫|病|吗|没)|就诊|外院|去医院/,
  treatment:
    /\b(?:taken (?:anything|any|something|medic\w*)|took|tak(?:e|ing)|tablets?|treat\w*|medic(?:ine|ines|ation|ations)|drugs?|pills?|remed\w*|painkillers?|antibiotics?|prescri\w*)\b|(?:吃|用|服)(?:过|了|的|着|什么|些|点)?.{0,4}药|治疗|药物|服药|用药|输液|打针|怎么处理/,
  food: /\b(?:diet|food|spicy|meals?|usually eat|eaten|fruit|vegetables?|seafood|takeaway)\b|饮食|吃(?:了|过|的)?(?:什么|辣|坏|生|冷|海鲜)|辛辣|海产品|口味/,
  water: /\b(?:water|fluids?)\b|喝水|饮水/,
  exercise: /\b(?:exercis\w*|active|sport\w*|physical activity|walk\w*)\b|运动|锻炼|活动/,
  travel: /\b(?:travel\w*|abroad|trip|holiday)\b|外地|出差|旅游|旅行|疫区|出国/,
  contact:
    /\b(?:(?:anyone|anybody|people|others?|someone|family) (?:else )?(?:around|near|at home|in the|with|sick|ill|unwell)|contact with)\b|周围(?:的)?人|身边|同事|接触|别人.{0,6}(?:这样|病|烧)/,
  injury: /\b(?:injur\w*|hit|fall|fell|trauma|accident|hurt yourself)\b|外伤|受伤|摔|撞|磕/,
  pressure: /\b(?:blood pressure|hypertension)\b|血压/,
  diabetes: /\b(?:diabet\w*|blood sugar)\b|糖尿病|血糖/,
}

/** Parts of a history that belong to a topic of the written record. */
const frames: Readonly<Record<RecordTopic, RegExp>> = {
  complaint:
    /\b(?:what (?:brings|brought|made you come|seems|happened|can i do|is (?:the|your) (?:matter|problem|trouble|main))|how (?:can|may) i help|why (?:are|did|have) you (?:here|come)|reason for (?:your|coming)|tell me (?:what|about (?:it|your problem|why)|why|more)|what(?:'s| is| has been)? (?:been )?(?:wrong|going on|bothering|troubling|the matter|up))\b|(?:哪里|哪儿|哪|怎么|什么)(?:地方)?(?:不舒服|不好|难受|了$)|怎么(?:了|啦|回事)|(?:什么|啥)(?:问题|原因|病)?(?:来|看病|就诊)|来(?:医院)?(?:看|是|就诊).{0,6}(?:原因|什么|病)|因为什么|(?:说说|讲讲|介绍|谈谈)(?:一?下)?.{0,6}(?:情况|病情|原因)?|帮(?:助)?您的?吗|什么情况/,
  age: /\bhow old (?:are|is)\b|\b(?:your|his|her) age\b|\bdate of birth\b|多大(?:年纪|岁数|了|年龄)?(?!的?压)|年龄|几岁|贵庚|岁数/,
  sex: /\b(?:male or female|man or a woman|boy or (?:a )?girl|your (?:sex|gender))\b|性别|男的?还是女|男孩还是女/,
  name: /\b(?:your (?:full |first |last )?name|what should i call you|who am i (?:speaking|talking) (?:to|with))\b|(?:叫|姓)什么|姓名|名字|贵姓|怎么称呼/,
  job: /\b(?:your (?:job|occupation|work|profession)|for a living|do you work|working (?:as|at|in)|what work|employed|retired|a student)\b|什么工作|做什么(?:的|工作)|职业|上班|工作(?:是|忙|累|性质|环境)|干什么的|从事/,
  marriage:
    /\b(?:married|single|partner|wife|husband|spouse|divorced|widow\w*)\b|结婚|婚姻|爱人|配偶|老公|老婆|丈夫|妻子|成家/,
  home: /\b(?:live (?:with|alone|at|in)|who (?:do you live|is at home)|at home with|where do you live|come from|hometown)\b|住(?:在)?(?:哪|一起|址)|(?:跟|和)谁.{0,3}住|老家|籍贯|哪里人|什么地方(?:的)?人|本地人|地方的$|出生/,
  past: /\b(?:(?:other|past|previous|underlying|existing|chronic|long-term|pre-existing|serious) (?:medical )?(?:illness\w*|conditions?|diseases?|problems?|history)|medical history|history of|illnesses in the past|normally (?:fit|well|healthy)|general health|(?:fit and|otherwise) (?:well|healthy)|(?:pressure|diabet\w*|asthma|heart disease))\b|(?:以前|既往|过去|曾经).{0,8}(?:病|健康|身体|疾病)|得过(?:其他|别的|什么|哪些)?.{0,4}病|慢性病|基础病|身体(?:一直|怎么样|健康|都|好)|高血压|糖尿病|冠心病|心脏病|病史/,
  surgery:
    /\b(?:surg\w*|operations?|operated|injur\w*|trauma)\b|手术|开过刀|动过刀|外伤|受(?:过)?伤|骨折/,
  transfusion: /\b(?:transfus\w*)\b|输(?:过)?血|献血/,
  infection:
    /\b(?:infectious diseases?|hepatitis|tubercul\w*|tb|vaccin\w*|immuni[sz]\w*)\b|传染病|肝炎|结核|接种|疫苗/,
  allergy: /\b(?:allerg\w*|reactions? to)\b|过敏/,
  medicine:
    /\b(?:(?:regular|current|other|long-term|any) (?:medic\w*|drugs?|tablets?|pills?)|(?:medic\w*|drugs?|tablets?|pills?) (?:are you|do you|you) (?:on|tak\w*)|on (?:any|a regular)|take any\w* (?:on a )?regular\w*)\b|(?:长期|平时|平常|现在|目前|一直).{0,6}(?:吃|服|用).{0,4}药|正在吃.{0,3}药/,
  smoking: /\b(?:smok\w*|cigar\w*|tobacco|vap(?:e|ing))\b|[抽吸]烟|烟(?:酒|瘾)|嗜烟/,
  alcohol:
    /\b(?:alcohol|drink(?:ing|er)?(?! (?:water|enough|fluids|plenty))|beer|wine|liquor|units a week)\b|[喝饮]酒|酒(?:量|瘾)|烟酒|嗜酒|白酒|啤酒/,
  habits: /\b(?:lifestyle|habits?|hobbies)\b|嗜好|爱好|生活习惯|作息/,
  menstrual: /\b(?:periods?|menstru\w*|menses)\b|月经|例假|经期|绝经/,
  births:
    /\b(?:(?:how many|any|have) (?:children|kids)|pregnan\w*|births|deliver(?:y|ies)|miscarr\w*)\b|(?:几个|有没有|有)(?:孩子|小孩)|[0-9一二两三]个?[子女儿]|儿女|子女|生育|怀过?孕|流产|几胎/,
  family:
    /\b(?:famil(?:y|ies)|parents?|mother|father|mum|dad|mom|siblings?|brothers?|sisters?|relatives?|hereditary|genetic|run in)\b|家里|家人|家族|父母|父亲|母亲|爸|妈|兄弟|姐妹|遗传|亲戚/,
  idea: /\b(?:what do you (?:think|reckon|feel) (?:is|it|might|may|could|caus|the|about)|your (?:own )?(?:idea|thoughts?|view)|any (?:ideas?|thoughts)|do you (?:have any idea|think it))\b|(?:自己|您|你)(?:自己)?(?:觉得|认为|估计)?.{0,2}(?:觉得|认为|估计).{0,6}(?:是(?:什么|因为|怎么)|有什么原因|可能)|怎么看|想法|了解(?:这|多少)/,
  concern:
    /\b(?:worr(?:y|ies|ied)|concern\w*|afraid|fears?|scared|frighten\w*)\b|担心|害怕|顾虑|担忧/,
  expectation:
    /\b(?:hop(?:e|ed|ing)|expect\w*|would you like (?:me|us) to|want (?:me|us|from)|looking for)\b|希望|期望|期待|要求|想(?:要)?(?:我们|让|得到)/,
  course: /(?!)/,
  system: /(?!)/,
  other: /(?!)/,
}

/** Where one of these is asked about, only a passage about it answers, and such a passage answers nothing else. */
export const ownFrames: ReadonlySet<string> = new Set<RecordTopic>([
  'age',
  'sex',
  'name',
  'job',
  'marriage',
  'home',
  'past',
  'surgery',
  'transfusion',
  'infection',
  'allergy',
  'smoking',
  'alcohol',
  'family',
  'idea',
  'concern',
  'expectation',
  'births',
])

/** "Anything else?": asks for whatever has not been told. */
const more =
  /\b(?:any(?:thing)? (?:else|other|more)|what else|other (?:symptoms?|problems?|complaints?|discomfort\w*|concerns?)|anything (?:you(?:'d| would) like to|to) (?:add|tell|ask)|go on|tell me more|add)\b|还有(?!.{0,4}(?:过敏|病|手术|药|家))|别的(?:不舒服|症状|情况|地方|问题)|其他(?:不舒服|不适|症状|情况|问题|伴随)|其它(?:不舒服|不适|症状|情况)|补充|再说|具体(?:说|讲)|继续说|除了.{0,20}(?:还|其他|别的)|遗漏/

/** Aspects of a symptom in a recorded sentence. */
const told: Readonly<Record<string, RegExp>> = {
  onset:
    /\b(?:\d+|a|an|one|two|three|four|five|six|seven|eight|nine|ten|several|few|couple(?: of)?|half a|past|last)[ -](?:more |and a half |past )?(?:hours?|days?|weeks?|months?|years?|nights?)\b|\b(?:yesterday|since|ago|this morning|last (?:night|week|month|year))\b|[0-9一二两三四五六七八九十半几多]+余?多?个?(?:小时|天|日|周|星期|月|年)|昨天|前天|今早|今天|上周|上个?月/,
  course: /\b(?:worse\w*|better|improv\w*)\b|加重|加剧|好转|越来越|没见好|缓解|(?<!体重)减轻/,
  frequency:
    /\b(?:times (?:a|per)|every|constant(?:ly)?|all the time|comes? and goes?|on and off|intermittent\w*|often|occasional\w*|sometimes|daily)\b|[0-9一二两三四五六七八九十几]次|一阵一阵|时不时|反反复复|一直|持续|偶尔|经常|每天/,
  severity:
    /\b(?:severe\w*|mild\w*|slight\w*|terribl\w*|bad(?:ly)?|unbearable|awful)\b|剧烈|严重|轻微|厉害|难忍/,
  place:
    /\b(?:left|right|upper|lower|middle|navel|behind|under|front)\b|[左右上下中]|肚脐|侧|部位|后面/,
  character:
    /\b(?:sharp|dull|burning|throbbing|stabbing|cramp\w*|tight\w*|squeezing|pressure)\b|隐[痛疼]|绞[痛疼]|胀[痛疼]|刺[痛疼]|钝[痛疼]|压榨|烧灼/,
  spread: /\b(?:spread\w*|radiat\w*)\b|放射|牵扯/,
  trigger:
    /\b(?:after|because|when(?:ever)? i|caused)\b|后(?:出现|加重|发作|突然)|没什么原因|因为|诱因|以后|饮食不|劳累|受凉/,
  relief:
    /\b(?:better|relie\w*|eased?|helps?|helped|no (?:effect|relief))\b|缓解|(?<!体重)减轻|好转|没见好|好多了|有效|无效|效果/,
  before:
    /\b(?:before|previous\w*|last (?:year|month)|years ago|first time)\b|以前(?:也|有过|得过|出现)|年前|第一次|从来没/,
  night: /\b(?:night\w*|wakes? me)\b|夜|晚上/,
  meals: /\b(?:meals?|eat\w*|food|hungry)\b|饭[前后]|进食|空腹|吃/,
  amount: /\d|量(?:多|少|大|小|中)/,
  colour: /\b(?:yellow|green|white|red|black|brown|clear|pink)\b|[黄白红黑绿]|颜色|咖啡/,
}

const list = Object.entries
const found = (text: string, table: Readonly<Record<string, RegExp>>, mark: string): string[] =>
  list(table).flatMap(([name, pattern]) => (pattern.test(text) ? [`${mark}${name}`] : []))

/** Words and phrases that only make a sentence a question, or polite. */
const hanFiller =
  /请问|您好|你好|大夫|医生|有没有|有无|是不是|是否|会不会|能不能|可不可以|什么|怎么样|怎样|如何|哪些|最近|现在|目前|平时|这次|自己|觉得|感觉|出现|过吗|情况|那么|另外|以前|一下|告诉|我们?|您|你|(\p{Script=Han})不\1/gu

const plain = (text: string): string => text.normalize('NFKC').toLowerCase().replace(/[’‘]/g, "'")

/** What a text is about. Aspects begin with `?`, symptoms with `#`, parts of a history with `@`. */
export interface Concepts {
  readonly aspects: readonly string[]
  readonly symptoms: readonly string[]
  readonly frames: readonly string[]
  /** Asks for anything not yet told. */
  readonly more: boolean
}

/** Kinds of examination, which a sentence about any of them is about too. */
const examinations = ['#gastroscopy', '#colonoscopy', '#imaging', '#bloodtest', '#ecg']
/** Symptoms that say where a pain is: "a sore throat" is about the throat, not about pains. */
const sites = new Set([
  ...['#throat', '#chest', '#headache', '#belly', '#joint', '#back', '#eye', '#ear', '#urine'],
  '#menses',
])

/** Symptoms of a text: "pain" only where no site says which, "tests" only where none is named. */
function symptomsIn(text: string): string[] {
  const all = found(text, symptoms, '#')
  const sited = all.some((symptom) => sites.has(symptom))
  const named = all.some((symptom) => examinations.includes(symptom))
  return all.filter(
    (symptom) => !(symptom === '#pain' && sited) && !(symptom === '#tests' && named),
  )
}

/** Finds the concepts of a question. */
export function questionConcepts(question: string): Concepts {
  const text = plain(question)
  return {
    aspects: found(text, aspects, '?'),
    symptoms: symptomsIn(text),
    frames: found(text, frames, '@'),
    more: more.test(text),
  }
}

/** Finds the concepts of something said: symptoms, parts of a history, and aspects. */
export function statementConcepts(statement: string): readonly string[] {
  const text = plain(statement)
  const said = found(text, frames, '@').filter((frame) => ownFrames.has(frame.slice(1)))
  const named = found(text, symptoms, '#')
  // Asked for pains or tests at all, somebody names one.
  const tests = named.some((symptom) => examinations.includes(symptom)) ? ['#tests'] : []
  return [...named, ...tests, ...said, ...found(text, told, '?')]
}

/** Word stems of a text, without the words that only make it a question. */
export const contentWords = (text: string): string[] =>
  wordStems(plain(text).replace(hanFiller, ' '))
