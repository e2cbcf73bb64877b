// SPDX-License-Identifier: Apache-2.0
#include "model/rope.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numbers>

namespace quire {

namespace {

constexpr double kPi = std::numbers::pi;

// theta ^ (2 i / dims) for i < dims / 2.
std::vector<float> powers(double theta, std::int64_t dims) {
  std::vector<float> values;
  for (std::int64_t i = 0; i < dims; i += 2) {
    const float exponent = static_cast<float>(i) / static_cast<float>(dims);
    values.push_back(static_cast<float>(std::pow(theta, static_cast<double>(exponent))));
  }
  return values;
}

std::vector<float> inverse(const std::vector<float>& values) {
  std::vector<float> result;
  for (const float value : values) result.push_back(1.0f / value);
  return result;
}

// Llama 3: low frequencies are divided by the factor, high ones kept, those between blended.
void blend_llama3(const RopeConfig& config, std::vector<float>& frequencies) {
  const auto context = static_cast<double>(config.original_context);
  const double low_wavelength = context / config.low_freq_factor;
  const double high_wavelength = context / config.high_freq_factor;
  for (float& value : frequencies) {
    const auto frequency = static_cast<double>(value);
    const double wavelength = 2 * kPi / frequency;
    if (wavelength < high_wavelength) continue;
    if (wavelength > low_wavelength) {
      value = static_cast<float>(frequency / config.factor);
      continue;
    }
    const double smooth = (context / wavelength - config.low_freq_factor) /
                          (config.high_freq_factor - config.low_freq_factor);
    value = static_cast<float>((1 - smooth) * frequency / config.factor + smooth * frequency);
  }
}

// YaRN: a linear ramp over the dimensions between interpolated and original frequencies.
std::vector<float> yarn_frequencies(const RopeConfig& config) {
  const auto dims = static_cast<double>(config.dims);
  const auto dimension_of = [&](double rotations) {
    return dims * std::log(static_cast<double>(config.original_context) / (rotations * 2 * kPi)) /
           (2 * std::log(config.theta));
  };
  double low = dimension_of(config.beta_fast);
  double high = dimension_of(config.beta_slow);
  if (config.truncate) {
    low = std::floor(low);
    high = std::ceil(high);
  }
  low = std::max(low, 0.0);
  high = std::min(high, dims - 1);
  if (low == high) high += 0.001;  // a step instead of a division by zero
  std::vector<float> result;
  for (const float value : powers(config.theta, config.dims)) {
    const auto power = static_cast<double>(value);
    const auto i = static_cast<double>(result.size());
    const double interpolated = std::clamp((i - low) / (high - low), 0.0, 1.0);
    result.push_back(
        static_cast<float>(interpolated / (config.factor * power) + (1 - interpolated) / power));
  }
  return result;
}

double yarn_attention_factor(const RopeConfig& config) {
  const auto mscale = [&](double weight) {
    return config.factor <= 1 ? 1.0 : 0.1 * weight * std::log(config.factor) + 1;
  };
  if (config.mscale != 0 && config.mscale_all_dim != 0) {
    return mscale(config.mscale) / mscale(config.mscale_all_dim);
  }
  return mscale(1);
}

double longrope_attention_factor(const RopeConfig& config) {
  if (config.factor <= 1) return 1;
  return std::sqrt(1 + std::log(config.factor) /
                           std::log(static_cast<double>(config.original_context)));
}

std::vector<float> longrope_frequencies(const RopeConfig& config,
                                        const std::vector<double>& factors) {
  std::vector<float> result = powers(config.theta, config.dims);
  for (std::size_t i = 0; i < result.size(); ++i) {
    result[i] = 1.0f / (static_cast<float>(factors[i]) * result[i]);
  }
  return result;
}

}  // namespace

Rope::Rope(const RopeConfig& config) : config_(config) {
  double attention_factor = 1;
  frequencies_ = inverse(powers(config.theta, config.dims));
  switch (config.scaling) {
    case RopeScaling::kNone:
    case RopeScaling::kDynamic:
      break;
    case RopeScaling::kLinear:
      for (float& frequency : frequencies_) frequency /= static_cast<float>(config.factor);
      break;
    case RopeScaling::kLlama3:
      blend_llama3(config, frequencies_);
      break;
    case RopeScaling::kYarn:
      frequencies_ = yarn_frequencies(config);
      attention_factor = yarn_attention_factor(config);
      break;
    case RopeScaling::kLongRope:
      frequencies_ = longrope_frequencies(config, config.short_factors);
      long_frequencies_ = longrope_frequencies(config, config.long_factors);
      attention_factor = longrope_attention_factor(config);
      break;
  }
  if (config.attention_factor > 0) attention_factor = config.attention_factor;
  attention_factor_ = static_cast<float>(attention_factor);
}

std::vector<float> Rope::dynamic_frequencies(std::int64_t length) const {
  const auto dims = static_cast<double>(config_.dims);
  const double stretch =
      static_cast<double>(length) / static_cast<double>(config_.original_context);
  const double theta =
      config_.theta * std::pow(config_.factor * stretch - (config_.factor - 1), dims / (dims - 2));
  return inverse(powers(theta, config_.dims));
}

void Rope::fill(std::int64_t first, std::int64_t count, std::int64_t length, float* cos,
                float* sin) const {
  const bool is_long = length > config_.original_context;
  std::vector<float> stretched;
  if (config_.scaling == RopeScaling::kDynamic && is_long && config_.dims > 2) {
    stretched = dynamic_frequencies(length);
  }
  const std::vector<float>& frequencies = !stretched.empty() ? stretched
                                          : config_.scaling == RopeScaling::kLongRope && is_long
                                              ? long_frequencies_
                                              : frequencies_;
  for (std::int64_t position = first; position < first + count; ++position) {
    for (const float frequency : frequencies) {
      const float angle = static_cast<float>(position) * frequency;
      *cos++ = std::cos(angle) * attention_factor_;
      *sin++ = std::sin(angle) * attention_factor_;
    }
  }
}

}  // namespace quire
