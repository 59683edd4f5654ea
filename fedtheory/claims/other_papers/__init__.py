"""False statements in other papers and false beliefs about methods, with what is true instead."""
