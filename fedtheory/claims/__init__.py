"""Claims of the library: lemmas, theorems and errata with executable checks, one file or package for each paper."""
