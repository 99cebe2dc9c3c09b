from pydantic import BaseModel, Field

from sa_builder.spec import ThreadState, ToolResult, define_tool

# The codes of the World Meteorological Organization, by the first one of each group.
SKIES = (
    (0, "clear sky"),
    (1, "partly cloudy"),
    (3, "overcast"),
    (45, "fog"),
    (51, "drizzle"),
    (61, "rain"),
    (71, "snow"),
    (80, "showers"),
    (95, "thunderstorm"),
)


class WeatherArgs(BaseModel):
    """Where."""

    city: str = Field(min_length=1, description="Name of the city, such as Paris")


def sky(code: int) -> str:
    """The words for a weather code."""
    return next(words for first, words in reversed(SKIES) if code >= first)


@define_tool(
    description="Look up the present weather of a city.",
    side_effects="read",
    idempotency="idempotent",
    risk="low",
)
async def execute(state: ThreadState, args: WeatherArgs) -> ToolResult:
    found = await state.http.get(
        "https://geocoding-api.open-meteo.com/v1/search",
        params={"name": args.city, "count": 1},
    )
    if not found.is_success:
        return ToolResult(status="error", error=f"The city search returned {found.status_code}")
    places = found.json().get("results")
    if not places:
        return ToolResult(status="error", error=f"No city is called {args.city}")
    place = places[0]

    forecast = await state.http.get(
        "https://api.open-meteo.com/v1/forecast",
        params={
            "latitude": place["latitude"],
            "longitude": place["longitude"],
            "current": "temperature_2m,weather_code,wind_speed_10m",
        },
    )
    if not forecast.is_success:
        return ToolResult(status="error", error=f"The forecast returned {forecast.status_code}")
    now = forecast.json()["current"]
    return ToolResult(
        status="success",
        result=(
            f"{place['name']}, {place['country']}: {now['temperature_2m']} °C, "
            f"{sky(now['weather_code'])}, wind {now['wind_speed_10m']} km/h"
        ),
    )
