// Ranks results of the search: an object of exactly this name, then guides, then modules.
var Scorer = {
  score: result => {
    const [page, , , , score] = result;
    if (/^(index|tutorial|own_theorem|howto\/|theory\/)/.test(page)) return score + 20;
    return /^(api\/generated\/|gallery\/)/.test(page) ? score - 10 : score;
  },
  objNameMatch: 60,
  objPartialMatch: 6,
  objPrio: {0: 15, 1: 5, 2: -5},
  objPrioDefault: 0,
  title: 15,
  partialTitle: 7,
  term: 5,
  partialTerm: 2,
};
