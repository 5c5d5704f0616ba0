// OpenMP in C++: user-defined reductions, objects private to threads, exceptions in teams.
#include <omp.h>

#include <algorithm>
#include <complex>
#include <iostream>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>
using Complex = std::complex<double>;
struct Extent {
    long low = 1L << 40, high = -(1L << 40);
    void add(long value) { low = std::min(low, value), high = std::max(high, value); }
    void add(const Extent &other) { add(other.low), add(other.high); }
};
#pragma omp declare reduction(+ : Complex : omp_out += omp_in) initializer(omp_priv = Complex())
#pragma omp declare reduction(widen : Extent : omp_out.add(omp_in))
#pragma omp declare reduction(merge : std::map<int, long> : [](auto &a, auto &b) { \
    for (auto &[key, value] : b) a[key] += value; }(omp_out, omp_in))
int main() {
    Complex sum;
    Extent extent;
    std::map<int, long> histogram;
#pragma omp parallel for reduction(+ : sum) reduction(widen : extent) reduction(merge : histogram)
    for (int i = 0; i < 2000; i++) {
        sum += Complex(i, -2 * i);
        extent.add((i * 7919L) % 1009 - 300);
        histogram[i % 7] += i;
    }
    std::cout << sum << ' ' << extent.low << ' ' << extent.high << '\n';
    for (auto &[key, value] : histogram) std::cout << key << ':' << value << ' ';
    std::vector<std::string> words(12);
    int caught = 0;
#pragma omp parallel for schedule(dynamic) reduction(+ : caught)
    for (int i = 0; i < 12; i++) {
        try {
            if (i % 3 == 0) throw std::runtime_error("word " + std::to_string(i));
            words[i] = std::string(i, 'a' + i);
        } catch (const std::exception &error) {
            words[i] = error.what();
            caught++;
        }
    }
    double dots[4] = {};
#pragma omp parallel for reduction(+ : dots[ : 4])
    for (int i = 0; i < 1000; i++) dots[i % 4] += i * 0.5;
    std::cout << '\n' << caught << ' ' << dots[0] << ' ' << dots[3] << '\n';
    for (auto &word : words) std::cout << word << '\n';
    bool inside = false;
#pragma omp parallel if (words.size() > 100)
    inside = omp_in_parallel();
    return inside ? 1 : caught;
}
