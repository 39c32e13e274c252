# Reference values from R, coin and vcd for the tables of make_tables.py; see there for how to run it.
# ranks.json: per set of blocks (k, r, c)
#   s            concordant minus discordant pairs per block, from all pairs of rows
#   tau_a        2 s/(n(n-1)) per block
#   z_kendall    cor.test(method = "kendall") without continuity: S/sqrt(Var S) per block, tie-corrected
#   cmh          mantelhaen.test without continuity correction, 2x2 only
#   f, u         coin::independence_test with blocks: linear statistic and its variance for Spearman scores
#   k, v         the same for 2x2 with Kendall's scores
# chi2_g.json: Pearson and likelihood ratio statistics and degrees of freedom from vcd::assocstats, summed over blocks
suppressPackageStartupMessages({library(jsonlite); library(coin); library(vcd)})
args <- commandArgs(trailingOnly = FALSE)
here <- dirname(sub("--file=", "", args[grep("--file=", args)]))
tables <- fromJSON(file.path(here, "tables.json"), simplifyVector = FALSE)

as_matrix <- function(block) matrix(unlist(block), nrow = length(block), byrow = TRUE)
as_rows <- function(m) {
  cells <- expand.grid(x = seq_len(nrow(m)), y = seq_len(ncol(m)))
  cells[rep(seq_len(nrow(cells)), as.vector(m)), ]
}

rank_values <- function(blocks) {
  m <- lapply(blocks, as_matrix)
  rows <- lapply(m, as_rows)
  s <- sapply(rows, function(d) sum(sign(outer(d$x, d$x, "-")) * sign(outer(d$y, d$y, "-"))) / 2)
  n <- sapply(rows, nrow)
  z <- sapply(rows, function(d) unname(suppressWarnings(
    cor.test(d$x, d$y, method = "kendall", exact = FALSE, continuity = FALSE)$statistic)))
  out <- list(s = s, tau_a = 2 * s / (n * (n - 1)), z_kendall = z)
  scored <- do.call(rbind, Map(function(d, i) {
    size <- nrow(d)
    data.frame(x = (rank(d$x) - (size + 1) / 2) * 12 / (size * (size + 1)),
               y = rank(d$y) - (size + 1) / 2, b = i,
               kx = (d$x - mean(d$x)), ky = d$y)
  }, rows, seq_along(rows)))
  scored$b <- factor(scored$b)
  test <- if (length(rows) > 1) independence_test(y ~ x | b, data = scored, teststat = "scalar")
          else independence_test(y ~ x, data = scored, teststat = "scalar")
  # coin centres at the conditional mean; scores are centred, so that is 0 up to rounding
  out$f <- as.numeric(statistic(test, "linear")) - as.numeric(expectation(test))
  out$u <- as.numeric(variance(test))
  if (all(dim(m[[1]]) == 2)) {
    binary <- if (length(rows) > 1) independence_test(ky ~ kx | b, data = scored, teststat = "scalar")
              else independence_test(ky ~ kx, data = scored, teststat = "scalar")
    out$k <- as.numeric(statistic(binary, "linear")) - as.numeric(expectation(binary))
    out$v <- as.numeric(variance(binary))
    out$cmh <- if (length(m) > 1) unname(mantelhaen.test(array(unlist(m), c(2, 2, length(m))), correct = FALSE)$statistic)
               else out$k^2 / out$v
  }
  out
}

chi2_values <- function(blocks) {
  tests <- lapply(blocks, function(b) assocstats(as.table(as_matrix(b)))$chisq_tests)
  list(chi2 = sum(sapply(tests, function(t) t["Pearson", "X^2"])),
       g = sum(sapply(tests, function(t) t["Likelihood Ratio", "X^2"])),
       df = sum(sapply(tests, function(t) t["Pearson", "df"])))
}

save <- function(name, sets, values) {
  records <- lapply(sets, function(b) c(list(blocks = b), values(b)))
  # one value per block stays a list even for one block
  records <- lapply(records, function(r) { for (f in intersect(c("s", "tau_a", "z_kendall"), names(r))) r[[f]] <- as.list(r[[f]]); r })
  writeLines(toJSON(records, auto_unbox = TRUE, digits = NA), file.path(here, name))
}
save("ranks.json", tables$ranks, rank_values)
save("chi2_g.json", tables$chi2_g, chi2_values)
