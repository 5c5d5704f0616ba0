// Streams: formats, files, a user-defined stream buffer, failures as exceptions.
#include <cstdio>
#include <fstream>
#include <iomanip>
#include <iostream>
#include <iterator>
#include <sstream>
#include <streambuf>
#include <string>
#include <vector>
struct Upper : std::streambuf {
    std::string kept;
    int overflow(int c) override {
        if (c != EOF) kept.push_back(static_cast<char>(std::toupper(c)));
        return c;
    }
};
struct Money {
    long cents;
    friend std::ostream &operator<<(std::ostream &out, const Money &money) {
        char fill = out.fill('0');
        out << money.cents / 100 << '.' << std::setw(2) << money.cents % 100;
        out.fill(fill);
        return out;
    }
    friend std::istream &operator>>(std::istream &in, Money &money) {
        long whole = 0;
        char point = 0;
        if (in >> whole >> point && point == '.' && in >> money.cents) money.cents += whole * 100;
        else in.setstate(std::ios::failbit);
        return in;
    }
};
int main() {
    std::cout << std::hex << std::showbase << 48879 << ' ' << std::oct << 8 << std::dec << ' '
              << std::setw(10) << std::left << "left" << '|' << std::right << std::setw(8)
              << std::setfill('*') << 42 << '|' << std::setfill(' ') << '\n';
    std::cout << std::fixed << std::setprecision(3) << 2.0 / 3 << ' ' << std::scientific << 12345.678
              << ' ' << std::hexfloat << 0.1 << std::defaultfloat << ' ' << 1e100 << ' '
              << std::boolalpha << true << '\n';
    std::string name = "/tmp/manycore-streams-" + std::to_string(reinterpret_cast<long>(&name));
    {
        std::ofstream out(name);
        for (int i = 0; i < 200; i++) out << i << ' ' << Money{i * 37L} << '\n';
    }
    std::fstream both(name, std::ios::in | std::ios::out);
    long sum = 0, lines = 0;
    int number = 0;
    for (Money money{}; both >> number >> money; lines++) sum += money.cents;
    both.clear();
    both.seekp(0);
    both << "first";
    both.seekg(0, std::ios::end);
    auto size = both.tellg();
    both.seekg(0);
    std::string line;
    std::getline(both, line);
    std::cout << lines << ' ' << sum << ' ' << size << ' ' << line << '\n';
    std::remove(name.c_str());
    Upper upper;
    std::ostream shout(&upper);
    shout << "quietly " << 7 << std::endl;
    std::cout << upper.kept;
    std::istringstream numbers("3 1 4 1 5 x 9");
    std::vector<int> read{std::istream_iterator<int>(numbers), {}};
    std::cout << read.size() << ' ' << numbers.fail() << ' ' << numbers.eof() << '\n';
    std::istringstream strict("12 abc");
    strict.exceptions(std::ios::failbit);
    try {
        int a = 0, b = 0;
        strict >> a >> b;
    } catch (const std::ios_base::failure &) {
        std::cout << "failed as asked\n";
    }
    std::ifstream missing("/nowhere/at/all");
    std::string word;
    int words = 0;
    while (std::cin >> word) words++;
    std::cerr << words << ' ' << missing.is_open() << '\n';
    return static_cast<int>(read.size());
}
