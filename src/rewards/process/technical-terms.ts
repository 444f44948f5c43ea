/**
 * Technical medical terms that a layperson does not know, zh and en.
 *
 * The list is this package's own and incomplete: terms for symptoms that have an everyday word. A knowledge base adds
 * the technical terms of its own findings. Words in everyday use (asthma, 糖尿病) are not on the list.
 */

const list = (text: string): readonly string[] => text.trim().split(/\s*[,\n]\s*/)

/** The terms of both scripts; matched as whole words, with regular endings. */
export const technicalTerms: readonly string[] = [
  ...list(`
    dyspnoea, dyspnea, orthopnoea, orthopnea, haemoptysis, hemoptysis, expectoration, sputum, purulent
    productive cough, pyrexia, febrile, rigors, diaphoresis, malaise, cachexia, polydipsia, syncope, presyncope
    paraesthesia, paresthesia, hemiparesis, dysarthria, dysphasia, aphasia, ataxia, diplopia, photophobia
    phonophobia, tinnitus, epistaxis, rhinorrhoea, rhinorrhea, odynophagia, dysphagia, emesis, haematemesis
    hematemesis, melaena, melena, haematochezia, hematochezia, tenesmus, steatorrhoea, steatorrhea, dyspepsia
    epigastric, epigastrium, retrosternal, precordial, obstipation, icterus, ascites, dysuria, haematuria
    hematuria, nocturia, oliguria, anuria, polyuria, amenorrhoea, amenorrhea, dysmenorrhoea, dysmenorrhea
    menorrhagia, dyspareunia, erythema, pruritus, urticaria, petechiae, purpura, oedema, edema, myalgia
    arthralgia, cephalalgia, tachycardia, bradycardia, arrhythmia, claudication, paroxysmal, prodrome
    prodromal, aetiology, etiology, sequelae, comorbidities, contraindication, prophylaxis, analgesics
    antipyretics, anticoagulants, antihypertensives, nsaids, bronchodilator, corticosteroids, idiopathic
    exertional, lateralised, nuchal rigidity, afebrile
  `),
  ...list(`
    咯血, 痰中带血, 脓痰, 端坐呼吸, 劳力性, 夜间阵发性, 呼吸窘迫, 三凹征, 畏寒, 自汗, 弛张热, 稽留热, 黑蒙, 感觉异常, 偏瘫, 构音障碍, 失语, 共济失调, 复视, 鼻衄
    吞咽困难, 里急后重, 纳差, 恶病质, 呕血, 柏油样, 黑粪, 陶土色, 剑突下, 麦氏点, 腹膜刺激, 转移性右下腹, 腹水, 少尿, 无尿, 闭经, 经期紊乱, 瘀点, 瘀斑, 紫癜, 凹陷性
    肌痛, 关节痛, 心动过速, 心动过缓, 心律不齐, 放射痛, 间歇性跛行, 阵发性, 前驱症状, 病因, 并发症, 合并症, 既往史, 个人史, 主诉, 体征, 禁忌证, 非甾体, 解热镇痛
    糖皮质激素, 颈项强直
  `),
]
