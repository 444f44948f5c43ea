/**
 * What English-speaking doctors say around a question without asking anything: "can I just double-check", "if you don't
 * mind me asking", a beginning that is given up. Removed before a text is read, so that no word of it picks a topic.
 */

const asking =
  '(?:(?:do|does|did|have|has|had|is|are|was|were|any|anyone|how|what|when|where|which|who|why|whereabouts)\\b)'
const lead = '(?:(?:and|so|but|now|then|well|ok|okay|right|alright|also|sorry|sure|yes|no|just)[, ]+)*'
/** Where a frame may begin and end: at a mark or at an end of the text. */
const from = '(?<=^|[.?!,;:—–] ?)'

/** Asks leave to ask: "Can I just double-check, …". What follows is the question. */
const leave = new RegExp(
  `${from}${lead}(?:(?:if (?:i|we) )?(?:can|could|may|might|let|shall)(?: (?:i|we|me))|i(?:'d| would|'ll| will)? (?:just )?(?:like|want|need|have|had|wanted|wanna)(?: to|ta)?)(?: (?:just|quickly|also|please|maybe|double|ask you|then|first))*[ -](?:double[ -]?check|check|clarify|confirm|ask|be sure|make sure)(?: (?:you|this|that|with you|one thing|one more thing|something|again|quickly|then))*(?: please)?(?:[,.:;?—–-]+ |,? (?=${asking}|(?:if|whether) ))`,
  'gi',
)

/** Leave to ask that is followed by an indirect question: "can I check whether you smoke" asks to be told. */
const indirect = /^(?:how|what|when|where|which|who|why|if|whether|whereabouts) (?!do|does|did|have|has|is|are|was|were|can|would)/i

/** Remarks that stand between two marks and ask nothing. */
const remarks = new RegExp(
  `${from}(${lead})(?:${[
    'sorry to (?:ask|have to ask|pry)[^,.?!]*',
    "if (?:you(?:'ll| will)?|you) (?:don'?t|do not) mind(?: (?:me|my|us))?(?: (?:asking|saying|me asking))?",
    "(?:(?:i(?:'m sorry,? (?:but )?)?i?|we)(?: just| do| always| sometimes|'ve)* )?(?:need|have|got|want) to ask (?:you )?(?:this|that|everyone|everybody|anyone|all|some|a few|a couple|one or two|(?:very )?personal)[^.?!,]*",
    "(?:this|it)(?: is|'s) (?:a|an) (?:(?:question|thing) (?:i|we)|(?:bit |rather |slightly |very )*(?:personal|private|odd|strange|funny|silly|direct))[^.?!,]*",
    'without (?:prying|being)[^,.?!]*',
    "before (?:i|we) (?:go|carry|start|begin|move|get|do|talk)(?! you)[^,.?!]{0,40}",
    "(?:just )?(?:moving|going|coming) (?:on|forwards?|back)(?: then| now| a bit)?",
    "(?:just )?(?:out of (?:interest|curiosity)|to be (?:clear|sure|safe|complete|thorough)|for (?:completeness|my notes|the record|safety))",
    "just to (?:check|clarify|confirm|double[ -]?check|make sure|finish|finish off|start with)",
    "(?:one|two|a) (?:last|final|more|other|quick) (?:thing|question|one)",
    "(?:i|we) (?:always )?ask (?:this |that |everyone |everybody |all )[^,.?!]*",
    'while (?:i remember|we(?: a|\')re (?:at it|on (?:that|the subject)))',
  ].join('|')})(?=[,.:;?!—–-]|$)[,.:;?!—–-]*\\s*`,
  'gi',
)

const start =
  "(?:is|are|was|were|do|does|did|have|has|had|can|could|would|will) (?:it|you|he|she|they|there|that|this|your \\w+|the \\w+)|(?:how|what|when|where|which)(?: (?:is|are|do|does|did|was|were|have|has|would))?(?: (?:you|it|your|the|they|he|she))?"
/** A beginning that is taken up again after a name or a word: "Are you, John, are you in pain?". */
const restart = new RegExp(`\\b(${start}),(?: [\\w']+,?){0,3}? \\1\\b`, 'gi')
/** A beginning given up for another one: "Is it, how would you describe it?". */
const givenUp = new RegExp(
  `(?<=^|[.?!] |[.?!,] (?:and|so|or|but|ok|okay),? )(?:${start}),? ?[,.…-]+ (?=(?:${start})\\b)`,
  'gi',
)

/** Put into the middle of a question. */
const meanwhile =
  /,? ?\bbefore (?:i|we) (?:go any further|go on|carry on|start|begin|get started|move on)\b,?(?= \w)/gi
/** Two to four words said again once a remark between them is gone. */
const again = /\b((?:[\w']+ ){1,3}[\w']+),? \1\b/gi

/** "What I'd like to do, is …": one sentence that tells, whatever comma is in it. */
const cleft =
  /\b((?:the (?:first|second|third|last|other|next|only|main|best|important) (?:thing|thing that|factor|step|reason|question)|what (?:i|we)(?:'[a-z]+)?\b|the (?:reason|way|problem|thing)\b)[^.?!]{0,80}?),? is,? (?=\w)/gi

/** "We're" and "what're" would lose their mark and become past tense. */
const contracted = /\b(we|they|what|where|who|how)['’]re\b/gi

/** A dash between two clauses. */
const dash = /\s+[–—-]\s+/g

const hasFrame =
  /\s[–—-]\s|\b(?:check|clarify|confirm|sure|ask|asking|mind|sorry|without|before|moving|going|coming|interest|curiosity|clear|safe|complete|completeness|notes|record|thing|question|one|while|reason|way|problem)\b|['’]re\b|what (?:i|we)\b|, (?:is|are|was|were|do|does|did|have|has|had|can|could|would|will|how|what|when|where|which)\b/i

/** A text in Latin script without what its doctor says around the questions. */
export function removeSpokenFrames(text: string): string {
  if (!hasFrame.test(text)) return text
  const plain = text
    .replace(dash, ', ')
    .replace(contracted, '$1 are')
    .replace(cleft, '$1 is ')
    .replace(leave, (frame, offset: number, whole: string) =>
      indirect.test(whole.slice(offset + frame.length)) ? 'tell me ' : '',
    )
    .replace(remarks, '$1')
    .replace(meanwhile, '')
    .replace(again, '$1')
    .replace(restart, '$1')
    .replace(givenUp, '')
    .trim()
  return /[a-z]/i.test(plain) ? plain : text
}
