# A client of R's: `Rscript table.R` groups, joins and sorts with data.table, writes a file, and prints a hash of the
# file and the seconds it took. A first, shorter piece of work does not count: it begins threads.
library(data.table)

setDTthreads(as.integer(Sys.getenv("OMP_NUM_THREADS")), throttle = 1L)
set.seed(1)
count <- 300000L
all <- data.table(group = sample(3000L, count, TRUE), other = sample(40L, count, TRUE), x = round(runif(count), 6))
file <- tempfile()

work <- function(part) {
    rows <- all[seq_len(count %/% part)]
    groups <- rows[, .(sum = sum(x), most = max(x), times = .N), by = .(group, other)]
    joined <- groups[rows, on = .(group, other)]
    setorder(joined, -x, group, other)
    joined[, sum := round(sum, 6)]
    fwrite(joined, file)
}

work(8L)
began <- Sys.time()
work(1L)
took <- as.numeric(difftime(Sys.time(), began, units = "secs"))
cat(substr(tools::md5sum(file), 1, 16), sprintf("%.4f", took), "\n")
