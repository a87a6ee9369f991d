/** A word, or a phrase, that this project does not use, with the one that it uses. */
export interface WordRule {
  /** Regular expression of the whole word or phrase, matched without case. */
  readonly word: string;
  readonly use: string;
  /** Where the rule applies: in text only, and not in identifiers, which are split into their words otherwise. */
  readonly in?: "text";
  /** Regular expressions of longer texts that are correct. */
  readonly not?: readonly string[];
  /** Files in which the word is the standard term. */
  readonly notIn?: RegExp;
  /** A text in which the rule finds one place. */
  readonly example: string;
}

export const WORD_RULES: readonly WordRule[] = [
  { word: "wish(es|ed)?", use: "desired state, spec, requested; verb: want, request", example: "isAsWished" },
  { word: "untold|told", use: "reported, logged, recorded; told apart -> distinguished", example: "told" },
  { word: "tells?", use: "report, show, say; tell apart -> distinguish", in: "text", example: "it tells" },
  { word: "judg(e|es|ed|ing|ement|ements)", use: "evaluate, evaluation, status", example: "judgeNode" },
  { word: "verdicts?", use: "result, decision, outcome", example: "verdict" },
  {
    word: "standing",
    use: "status",
    not: ["long-standing", "outstanding", "understanding"],
    example: "ProviderStanding",
  },
  { word: "brak(e|es|ed|ing)", use: "deletion circuit breaker (open/closed)", example: "isBraked" },
  { word: "lanes?", use: "per-provider queue, queue", example: "nodeLanes" },
  { word: "ledgers?", use: "cache, state, history, allocations, created-resources file", example: "RangeLedger" },
  {
    word: "formers?",
    use: "previous",
    not: ["informers", "informer", "transformer", "performer", "reformer", "platformer"],
    example: "former",
  },
  { word: "strays?", use: "orphan", example: "strays" },
  { word: "leftovers?|left-overs?", use: "orphan, remaining resource", example: "leftover" },
  {
    word: "holders?",
    use: "owner; Lease holder is fine",
    not: ["holderIdentity", "lease holder", "leaseholder", "preferredHolder", "placeholders?", "shareholder"],
    notIn: /lead|lease|hot-upgrade|process-lifecycle/,
    example: "holderOf",
  },
  {
    word: "gates?",
    use: "lock, limiter, filter, admission check, CI check",
    not: [
      "feature gate",
      "feature gates",
      "FeatureGate",
      "featureGate",
      "feature-gates",
      "FeatureGates",
      "aggregate",
      "delegate",
      "investigate",
      "propagate",
    ],
    example: "KeyedGate",
  },
  { word: "memories", use: "history, cache", example: "memories" },
  { word: "happenings?", use: "event, timeline entry", example: "happenings" },
  {
    word: "boards?",
    use: "status cache, index",
    not: ["dashboard", "dashboards", "onboard", "keyboard", "board-certified", "clipboard"],
    example: "StatusBoard",
  },
  {
    word: "stamp(s|ed)?",
    use: "ownership tag, tag",
    not: ["timestamp", "timestamps", "creationTimestamp", "deletionTimestamp"],
    example: "stampOf",
  },
  { word: "doubt(s|ed|ful)?", use: "uncertain, untrusted, not trusted", example: "providerDoubted" },
  { word: "blame(d|s)?", use: "field violation, report", example: "blamed" },
  { word: "contest(s|ed|ing)?", use: "conflict, ambiguous", example: "CLASS_CONTESTED" },
  { word: "overtaken", use: "superseded", example: "overtaken" },
  { word: "sightings?", use: "observation, last observed instance", example: "sightings" },
  { word: "anew", use: "again; or re-<verb>", in: "text", example: "starts anew" },
  {
    word: "somebody|someone else",
    use: "name the actor: an operator, another controller, a user",
    in: "text",
    example: "somebody",
  },
  { word: "nobody|anybody", use: "no one, no client, no controller: name the actor", in: "text", example: "nobody" },
  { word: "whoever|whom", use: "rewrite with the actor as subject", in: "text", example: "whoever" },
  { word: "ask(s|ed|ing)? back", use: "ask for confirmation", in: "text", example: "asks back" },
  { word: "stand(s|ing)? in the way", use: "block, cause", in: "text", example: "stands in the way" },
  { word: "in (its|their|the) way", use: "blocking", in: "text", example: "in its way" },
  { word: "at (the|its|a|some|their|every|each) clouds?", use: "in the cloud", in: "text", example: "at the cloud" },
  {
    word: "in vain|for want of|all the same|to the letter",
    use: "without success; because ... is missing; anyway; exactly",
    in: "text",
    example: "in vain",
  },
  { word: "put right|puts right|mend(s|ed|ing)?", use: "fix, correct, repair", in: "text", example: "is put right" },
  { word: "turn(s|ed|ing)? away", use: "reject", in: "text", example: "turned away" },
  { word: "held back|hold(s|ing)? back", use: "delayed, rate limited, paused", in: "text", example: "held back" },
  {
    word: "fault of (this|the) (program|page|process)",
    use: "internal error (bug)",
    in: "text",
    example: "a fault of this program",
  },
  { word: "hand-overs?", use: "failover, migration, cutover (say which)", in: "text", example: "hand-over" },
  { word: "pod ranges?", use: "pod CIDR", in: "text", example: "pod ranges" },
  { word: "folders?", use: "directory", in: "text", example: "folder" },
  { word: "figures", use: "metrics, measurements", in: "text", example: "figures" },
  {
    word: "(is|are|was|were|it|them|him|exists?|does|do|has|have) no more",
    use: "no longer",
    in: "text",
    not: ["no more (than|of|[a-z]+s)"],
    example: "it is no more",
  },
  { word: "shall", use: "must, is to, should (RFC 2119 words in the contract only)", in: "text", example: "shall" },
  {
    word: "(initiali|normali|seriali|recogni|authori|summari|synchroni|optimi|categori|minimi|maximi)s(e|es|ed|er|ers|ing|ation|ations)",
    use: "-iz- (US English)",
    example: "initialise",
  },
  {
    word: "behaviours?|colours?|honours?|honoured|favours?|neighbours?|labelled|labelling|labellings|unlabelled|licences?|catalogues?|judgement|fulfil(s)?",
    use: "US spelling",
    example: "behaviour",
  },
];
